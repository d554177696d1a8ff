import type { RegistrationRequest } from '../../core/process/registration-request.ts'
import type { readNotices } from '../../kernel/read-notices.ts'
import { openSession } from '../../kernel/sessions.ts'
import { takeNotices } from '../../kernel/take-notices.ts'
import { type Asking, accepted, type Bench, OUTSIDE, pidOf, times } from './bench.ts'

/** The inbox that these tests are about. */
export const SCOPE: `session:${string}` = 'session:s1'
export const IN_SESSION: RegistrationRequest = { ...OUTSIDE, owner: { session: 's1' } }

/** Ends `count` processes of the session. Each end makes a notice. Returns their pids. */
export async function tell(bench: Bench, count: number): Promise<string[]> {
  await openSession(bench.edges, 'host', 's1', null)
  const pids = times(count).map((index) => pidOf(`n${index}`))
  accepted(await bench.tryRegister(pids.map((pid) => ({ pid, request: IN_SESSION }))))
  for (const pid of pids) await bench.performed('appended', completed(pid))
  return pids
}

export function completed(pid: string, fence: { holder: string; fence: number } | null = null): Asking {
  return { type: 'end', pid, ending: { status: 'completed' }, replayKey: 'e', fence }
}

/** The positions of the notices that a consumer takes for a second. */
export async function takeOf(bench: Bench, consumer: string, limit: number): Promise<number[]> {
  const taken = await takeNotices(bench.edges, { scope: SCOPE, consumer, limit, visibilityMs: 1_000 })
  return taken.notices.map(({ position }) => position)
}

export async function positionsOf(read: ReturnType<typeof readNotices>): Promise<number[]> {
  return (await read).notices.map(({ position }) => position)
}
