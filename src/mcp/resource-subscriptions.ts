import { type McpServer, ResourceNotFoundError, type ServerContext } from '@modelcontextprotocol/server'
import { type Asking, ResourceWatch } from './resource-watch.ts'

/** `resources/subscribe` of the legacy era. In the modern one clients listen, and the SDK knows to what. */
export function resourceSubscriptions(
  server: McpServer,
  askingOf: (ctx: ServerContext) => Promise<() => Promise<Asking>>,
): void {
  let watch: ResourceWatch | undefined
  const subscribed = new Set<string>()
  const tell = (uri: string) => {
    // A client that is gone hears nothing, and its watch ends with the connection.
    server.server.sendResourceUpdated({ uri }).catch(() => {})
  }
  server.server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, ctx) => {
    const asking = await askingOf(ctx)
    watch ??= new ResourceWatch(asking, tell)
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
