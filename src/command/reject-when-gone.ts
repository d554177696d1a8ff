import type { Work } from '../kernel/executor.ts'

/** Rejects when this kernel closes or has lost the lease: then another kernel writes the program's end. */
export function rejectWhenGone(work: Work): { promise: Promise<never>; done: () => void } {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  const check = () => {
    const why = (work.signal.reason as { why?: string } | undefined)?.why
    if (why === 'shutdown' || why === 'lease_lost') reject(work.signal.reason)
  }
  if (work.signal.aborted) check()
  work.signal.addEventListener('abort', check)
  return { promise, done: () => work.signal.removeEventListener('abort', check) }
}
