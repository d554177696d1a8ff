import type { ServerContext } from '@modelcontextprotocol/server'

export interface Progress {
  /** Sends progress notifications during a wait, if the client asked for them. */
  waiting<Answer>(
    wait: { readonly totalMs: number; readonly message: string },
    answer: Promise<Answer>,
  ): Promise<Answer>
}

const FIRST_MS = 500
const EVERY_MS = 2_000

export function progressOf(ctx: ServerContext): Progress {
  const progressToken = ctx.mcpReq._meta?.progressToken
  if (progressToken === undefined) return { waiting: (_, answer) => answer }
  const begun = performance.now()
  return {
    async waiting({ totalMs, message }, answer) {
      const tell = () => {
        // The protocol requires that it rises with every notification.
        const progress = Math.round(performance.now() - begun)
        const params = { progressToken, progress, total: Math.max(totalMs, progress), message }
        // A disconnected client cannot be notified; its wait is aborted already.
        ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
      }
      const first = setTimeout(tell, FIRST_MS)
      const next = setInterval(tell, EVERY_MS)
      try {
        return await answer
      } finally {
        clearTimeout(first)
        clearInterval(next)
      }
    },
  }
}
