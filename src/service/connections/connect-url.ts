/** Address of the page on which the owner connects an app, or sees which of its connections needs help. */
export function connectUrl(baseUrl: string, integration: string): string {
  return `${baseUrl}/connect/${encodeURIComponent(integration)}`;
}

/** Address of the page on which the owner renews one connection or grants it more. */
export function reconnectUrl(baseUrl: string, connectionId: string): string {
  return `${baseUrl}/connections/${encodeURIComponent(connectionId)}/reconnect`;
}
