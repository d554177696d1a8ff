import type { ServerContext } from '@modelcontextprotocol/server'

export interface Progress {
  /** Tells the client now and then that a wait goes on, if it asked to be told. */
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
        // Rises with every one of them, as the protocol wants it.
        const progress = Math.round(performance.now() - begun)
        const params = { progressToken, progress, total: Math.max(totalMs, progress), message }
        // A client that is gone hears nothing, and its wait is called off for that reason already.
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
