import { setTimeout } from "node:timers/promises";
import { createRandom } from "../faults/kit/create-random.ts";
import type { Answer, Door, Host, ModelCall, OpenDoor, Turn } from "./door.ts";
import type { Stop } from "./take-turn.ts";

/** What a history is played on: a door, two workers of it, and the service as the judge. */
export interface HistoryStage {
  readonly door: Door;
  open(change?: Partial<Host>): Promise<OpenDoor>;
  /** Titles of the writes that the service has tried, in order. */
  effects(): Promise<readonly string[]>;
  /** Has a process of its own take answers, and kills it where it stops. */
  kill(saved: string, answers: readonly Answer[], at: Stop): Promise<unknown>;
}

/** Workers outlive a history, so that thousands can be played. */
export class Workers {
  readonly #stage: HistoryStage;
  readonly #open: (Promise<OpenDoor> | undefined)[] = [];

  constructor(stage: HistoryStage) {
    this.#stage = stage;
  }

  get(index: number): Promise<OpenDoor> {
    this.#open[index] ??= this.#stage.open();
    return this.#open[index];
  }

  /** Ends a worker without a word to its conversations; the next use opens another. */
  async end(index: number): Promise<void> {
    const ending = this.#open[index];
    this.#open[index] = undefined;
    await (await ending)?.close();
  }
}

/** Calls that were made at once, as far as they were answered. */
interface Conversation {
  turn: Turn;
  /** Answers to the turns before, for those who give them again. */
  readonly answered: { readonly saved: string; readonly answers: readonly Answer[] }[];
}

/** What a human has said: everything else must not happen. */
class Model {
  /** Titles that they said yes to, or typed. */
  readonly approved = new Set<string>();
  /** Titles of one account that one answer approved, in the order of the calls. */
  together: (readonly string[])[] = [];

  /** Notes an answer. */
  answer(questions: readonly string[], answers: readonly Answer[], isOneDecision: boolean): void {
    // A yes behind which the call was asked again, since one before it had failed, counted for nothing.
    const asked = new Set(questions.map(readTitle));
    this.together = this.together.map((group) => group.filter((title) => !asked.has(title.replace(/e$/, ""))));
    const yeses = questions.flatMap((question, index) => {
      const title = readTitle(question);
      const answer = answers[index];
      if (answer === undefined || answer === "decline" || title === undefined) return [];
      return [answer === "approve" ? title : `${title}e`];
    });
    for (const title of yeses) this.approved.add(title);
    for (const account of ["n", "d"]) {
      // Where each call has its own human, an edit takes longer than a yes.
      const group = yeses.filter((title) => title.startsWith(account) && (isOneDecision || !title.endsWith("e")));
      this.together.push(group.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })));
    }
  }

  /** What was broken; undefined for nothing. */
  judge(ran: readonly string[]): string | undefined {
    const unapproved = ran.find((title) => !this.approved.has(title));
    if (unapproved !== undefined) return `${unapproved} ran unapproved`;
    const calls = ran.map((title) => title.replace(/e$/, ""));
    const twice = calls.find((title, index) => calls.indexOf(title) !== index);
    if (twice !== undefined) return `${twice} ran twice`;
    const mixed = this.together.find((group) => {
      const places = group.map((title) => ran.indexOf(title)).filter((place) => place >= 0);
      return places.some((place, index) => index > 0 && place < (places[index - 1] ?? 0));
    });
    return mixed && `${mixed.join()} were approved together and ran as ${ran.join()}`;
  }
}

function readTitle(question: string): string | undefined {
  return /(?:title|path): ([nd]\d+[fw])$/m.exec(question)?.[1];
}

const DAY_MS = 24 * 60 * 60_000;

/** One history. */
interface HistoryPlan {
  readonly seed: number;
  readonly steps: number;
  /** Calls are numbered from here. */
  readonly first: number;
  /** True where the process that takes the first yes is killed at it, and another one goes on. */
  readonly kills?: boolean;
}

/** Plays at most `steps` steps of the history of a seed, and says what was broken; undefined for nothing. */
export async function playHistory(
  stage: HistoryStage,
  workers: Workers,
  { seed, steps, first, kills = false }: HistoryPlan,
): Promise<string | undefined> {
  const random = createRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const model = new Model();
  const conversations: Conversation[] = [];
  let named = first;
  let isKiller = kills && stage.door.cannot["a killed process"] === undefined;

  const makeCall = (): ModelCall => {
    named += 1;
    const kind = pick(6);
    if (kind === 0) return { id: `c${named}`, name: "drive_create_folder", args: { path: `d${named}w` } };
    const title = `n${named}${kind === 1 ? "f" : "w"}`;
    // A folder outside of the notes: the app refuses it when it runs.
    const place = kind === 1 ? { parent: "../elsewhere" } : {};
    return { id: `c${named}`, name: "notes_create_page", args: { ...place, title, body: "text" } };
  };
  const chooseAnswer = (question: string): Answer => {
    const chance = pick(10);
    if (chance < 6) return "approve";
    if (chance < 8) return "decline";
    const title = readTitle(question);
    if (chance === 8 && stage.door.canEdit && title?.startsWith("n") && title.endsWith("w"))
      return { edit: { title: `${title}e`, body: "text" } };
    return undefined;
  };
  const resume = async (index: number, saved: string, answers: readonly Answer[]) => {
    const worker = await workers.get(index);
    return worker.resume(saved, answers).catch(() => undefined);
  };

  const start = async () => {
    const calls = Array.from({ length: 1 + pick(4) }, makeCall);
    conversations.push({ turn: await (await workers.get(0)).start(calls), answered: [] });
  };
  const answer = async (conversation: Conversation, how: "once" | "late" | "twice") => {
    const { saved, questions } = conversation.turn;
    if (questions.length === 0) return;
    const answers = questions.map(chooseAnswer);
    if (how === "late") {
      const late = await stage.open({ now: () => Date.now() + (stage.door.expiresAfterMs ?? 0) + DAY_MS });
      await late.resume(saved, answers).catch(() => undefined);
      conversation.turn = { ...conversation.turn, questions: [] };
      return late.close();
    }
    // In the inbox an edit is a form of its own, sent before the yeses.
    model.answer(questions, answers, stage.door.outlives && stage.door.holdsCalls !== true);
    conversation.answered.push({ saved, answers });
    if (isKiller && answers.some((one) => one !== undefined && one !== "decline")) {
      isKiller = false;
      await stage.kill(saved, answers, pick(2) === 0 ? "sending" : "finished");
    }
    const turns = await Promise.all([resume(0, saved, answers), how === "twice" && resume(1, saved, answers)]);
    conversation.turn = turns[0] || { ...conversation.turn, questions: [] };
  };
  const replay = async ({ answered }: Conversation) => {
    const one = answered[pick(answered.length)];
    if (one === undefined) return;
    const { goBack, goOn } = await workers.get(1);
    const way = pick(4);
    if (way === 0 && goBack !== undefined) await goBack(one.saved).catch(() => undefined);
    else if (way === 1 && goOn !== undefined) await goOn(one.saved).catch(() => undefined);
    else await resume(stage.door.outlives ? 1 : 0, one.saved, one.answers);
  };

  for (let step = 0; step < steps; step += 1) {
    const conversation = conversations[pick(conversations.length)];
    const chance = pick(100);
    if (conversation === undefined || chance < 25) await start();
    else if (chance < 75) await answer(conversation, "once");
    else if (chance < 90 || !stage.door.outlives) await replay(conversation);
    else if (chance < 95) await answer(conversation, "twice");
    else if (chance < 98) await workers.end(pick(2));
    else if (stage.door.expiresAfterMs !== undefined && !stage.door.holdsCalls) await answer(conversation, "late");
  }
  // Nothing is left to a later history.
  for (const { turn } of conversations) {
    if (turn.questions.length > 0)
      await resume(
        0,
        turn.saved,
        turn.questions.map(() => "decline" as const),
      );
  }
  await setTimeout(0);
  const own = (title: string) => Number(/\d+/.exec(title)?.[0]) > first && Number(/\d+/.exec(title)?.[0]) <= named;
  return model.judge((await stage.effects()).filter(own));
}
