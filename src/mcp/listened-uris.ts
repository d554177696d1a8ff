/** The resource URIs of a `subscriptions/listen` request (modern era); none for any other message. */
export function listenedUris(message: unknown): string[] {
  const { method, params } = Object(message) as { method?: unknown; params?: unknown }
  if (method !== 'subscriptions/listen') return []
  const { resourceSubscriptions } = Object(Object(params).notifications) as {
    resourceSubscriptions?: unknown
  }
  if (!Array.isArray(resourceSubscriptions)) return []
  return resourceSubscriptions.filter((uri): uri is string => typeof uri === 'string')
}
