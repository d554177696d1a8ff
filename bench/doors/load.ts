import { now, quantile, sleep } from '../clock.ts'

export interface Load {
  readonly p50: number
  readonly p99: number
  readonly perSecond: number
}

/**
 * Sends each request when it is due, whether or not earlier ones were answered, and times it from then on. So queueing,
 * on either side, is included.
 */
export async function load(
  { seconds, perSecond }: { readonly seconds: number; readonly perSecond: number },
  ask: (index: number) => Promise<unknown>,
): Promise<Load> {
  const count = seconds * perSecond
  const times: number[] = []
  const failures: unknown[] = []
  const asked: Promise<unknown>[] = []
  const begun = now()
  for (let index = 0; index < count; ) {
    const due = begun + (index * 1_000) / perSecond
    const wait = due - now()
    // Timers are late and have a resolution of 1 ms, so everything that is due is sent now.
    if (wait > 0) await sleep(Math.ceil(wait))
    for (const at = now(); index < count && begun + (index * 1_000) / perSecond <= at; index++)
      asked.push(answered(ask(index), times).catch((error) => failures.push(error)))
  }
  await Promise.all(asked)
  if (failures.length > 0) throw new Error(`${failures.length} requests failed.`, { cause: failures[0] })
  return {
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    perSecond: count / ((now() - begun) / 1_000),
  }
}

async function answered(asking: Promise<unknown>, times: number[]): Promise<void> {
  const begun = now()
  await asking
  times.push(now() - begun)
}
