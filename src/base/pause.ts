/** The part of a clock that `pause` needs. */
interface Timer {
  /** Calls `task` once, `ms` from now, unless it is cancelled first. */
  after(ms: number, task: () => void): () => void
}

/** Resolves `ms` from now, or as soon as `signal` aborts. It never rejects. */
export function pause(timer: Timer, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = () => {
      cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const cancel = timer.after(ms, finish)
    signal?.addEventListener('abort', finish)
  })
}
