import { type McpServer, ResourceNotFoundError, type ServerContext } from '@modelcontextprotocol/server'
import type { Operator } from './approvals/operator.ts'
import { ResourceWatch, type SessionAccess } from './resource-watch.ts'

/** Handles `resources/subscribe` of the legacy era. In the modern era clients listen, and the SDK handles it. */
export function resourceSubscriptions(
  server: McpServer,
  askingOf: (ctx: ServerContext) => Promise<() => Promise<SessionAccess>>,
  operator?: Operator,
): void {
  let watch: ResourceWatch | undefined
  const subscribed = new Set<string>()
  const tell = (uri: string) => {
    // A disconnected client cannot be notified; its watch ends with the connection.
    server.server.sendResourceUpdated({ uri }).catch(() => {})
  }
  server.server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, ctx) => {
    const asking = await askingOf(ctx)
    watch ??= new ResourceWatch(asking, tell, operator)
    if (!subscribed.has(uri)) {
      if (!(await watch.add(uri))) throw new ResourceNotFoundError(uri)
      subscribed.add(uri)
    }
    return {}
  })
  server.server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }) => {
    if (subscribed.delete(uri)) watch?.delete(uri)
    return {}
  })
  const before = server.server.onclose
  server.server.onclose = () => {
    before?.()
    watch?.close()
  }
}
