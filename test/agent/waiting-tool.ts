import { defineTool } from 'reeve'
import * as z from 'zod'

/** A tool that waits until the test lets it return, or until it is stopped. */
export function waitingTool() {
  const called = Promise.withResolvers<void>()
  const stopped = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<string>()
  const tool = defineTool({
    name: 'wait',
    description: 'Waits.',
    input: z.object({}),
    run: (_, { abortSignal }) => {
      abortSignal.addEventListener('abort', () => {
        stopped.resolve()
        gate.reject(abortSignal.reason)
      })
      called.resolve()
      return gate.promise
    },
  })
  return { tool, called: called.promise, stopped: stopped.promise, release: () => gate.resolve('done') }
}
