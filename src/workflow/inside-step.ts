import { AsyncLocalStorage } from 'node:async_hooks'

/** The step that the calling code runs in, if any. There the context refuses steps, waits and spawns; it allows `charge`. */
export const insideStep: AsyncLocalStorage<{
  readonly name: string
  /** Stays the same when a crash interrupts this try and it runs again. */
  readonly key: string
  charges: number
}> = new AsyncLocalStorage()
