/**
 * Names a generated tool must not have: the host drops a plugin's tool whose name it knows already. OpenClaw 2026.9.6:
 * its core tools, the controls of its tool search and code mode, the aliases it folds into other names, and the tools
 * of the plugins it ships. Lower case: the host compares without regard to letter case.
 */
export const HOST_TOOL_NAMES: ReadonlySet<string> = new Set(
  [
    "agents_list agents_wait apply-patch apply_patch ask_user automations bash browser canvas code_execution computer",
    "conversations_list conversations_send conversations_turn create_goal cron dashboard dismiss_task edit exec gateway",
    "get_goal github_identity_status github_publish heartbeat_respond image image_generate ls memory_get memory_search",
    "message mobile_ui music_generate nodes openclaw pdf plugins portal process progress_card read screen secrets",
    "session_status sessions sessions_history sessions_list sessions_search sessions_send sessions_spawn sessions_yield",
    "show_widget skill_workshop structured_output subagents suggest_task terminal theme transcripts tts update_goal",
    "video_generate view_image wait web_fetch web_search write x_search",
    "tool_call tool_describe tool_search tool_search_code",
    "crabbox dir_fetch dir_list file_fetch file_write intent llm-task node_inference onepassword talk_voice",
    "wiki_apply wiki_get wiki_lint wiki_search wiki_status",
  ].flatMap((line) => line.split(" ")),
);

/** The plugin the host ships with tools of this prefix grows with each release. */
export const HOST_TOOL_PREFIXES: readonly string[] = ["workboard_"];
