import type { Json, JsonObject } from '../core/json/json.ts'
import type { Ending } from '../core/process/intent.ts'
import type { Evidence, StopHow } from '../core/process/record.ts'
import type { Exit, ProgramState } from '../keeper/protocol/program-state.ts'
import type { Lost } from '../kernel/executor.ts'
import type { Untold } from './attend/attend.ts'
import type { Restart } from './register-restart.ts'

/** The last stop request. */
export interface Stop {
  readonly how: StopHow
  readonly reason: string
}

/**
 * The ending of a process, from the end of its program.
 *
 * | the keeper saw                          | status                                  | reason                           |
 * | exit 0, unasked                         | completed                               | –                                |
 * | another code or a signal, unasked       | failed                                  | –                                |
 * | an end after a stop request             | cancelled, with the real code or signal | killed, interrupted, cancelled, lifetime, limit:… |
 * | an end after a limit was exceeded       | cancelled                               | limit:…                          |
 * | an end after a timeout of its spec      | failed                                 | timeout, idle                    |
 * | no start                                | failed                                  | failed_start                     |
 * | nothing: it is gone                     | abandoned                               | its evidence                     |
 * | nothing: it was stopped before its start | cancelled                               | killed, interrupted, cancelled, lifetime |
 */
export function endingOf(
  state: Exclude<ProgramState, { state: 'running' }>,
  stop: Stop | undefined,
  untold: Untold | null = null,
  timeout: 'timeout' | 'limit:runMs' = 'timeout',
): Ending | Lost {
  if (state.state === 'lost') return lost(state.evidence, untold)
  if (state.state === 'exited') return exited(state.exit, stop, untold, timeout)
  const { message, remedy } = state
  return { status: 'failed', reason: 'failed_start', result: { message, remedy } }
}

/** Adds the restart that follows, or why there is none, to the result. */
export function withRestart<Any extends Ending | Lost>(ending: Any, restart: Restart): Any {
  return { ...ending, result: { ...Object(ending.result), restart } }
}

/** The ending of a command that was stopped before its program began, so that it never will. */
export function neverBegun(stop: Stop | undefined): Ending {
  return { status: 'cancelled', reason: reasonOf(stop) }
}

function lost(evidence: Evidence, untold: Untold | null): Lost {
  const result = untoldIn(untold)
  return { status: 'abandoned', evidence, ...(Object.keys(result).length === 0 ? {} : { result }) }
}

function exited(
  exit: Exit,
  stop: Stop | undefined,
  untold: Untold | null,
  timeout: 'timeout' | 'limit:runMs',
): Ending {
  const { exitCode, signal, because, at: endedAt } = exit
  const seen = { exitCode, signal, endedAt, result: resultOf(exit, untold) }
  if (because === null) return { ...seen, status: exitCode === 0 ? 'completed' : 'failed' }
  if (because === 'asked') return { ...seen, status: 'cancelled', reason: reasonOf(stop) }
  const reason = because === 'timeout' ? timeout : because === 'idle' ? because : LIMITS[because]
  return { ...seen, status: reason.startsWith('limit:') ? 'cancelled' : 'failed', reason }
}

/** The names of limits in outcomes. Keepers use short ones, and outlive the versions of daemons. */
const LIMITS = {
  'limit:memory': 'limit:memoryBytes',
  'limit:cpu': 'limit:cpuSeconds',
  'limit:output': 'limit:outputBytes',
} as const

function reasonOf(stop: Stop | undefined): string {
  if (stop?.reason.startsWith('limit:')) return stop.reason
  if (stop === undefined || stop.how === 'kill') return 'killed'
  if (stop.reason.startsWith('lifetime:')) return 'lifetime'
  return stop.how === 'interrupt' ? 'interrupted' : 'cancelled'
}

/** Processes left behind count only if the program ended by itself: an end takes the whole tree. */
function resultOf({ outputEnd, usage, leftBehind, because }: Exit, untold: Untold | null): Json {
  return {
    outputBytes: outputEnd,
    ...untoldIn(untold),
    ...(usage === null ? {} : { usage: { ...usage } }),
    ...(leftBehind === null || leftBehind === 0 || because !== null ? {} : { leftBehind }),
  }
}

/** The lines of watches that no notice will report. */
function untoldIn(untold: Untold | null): JsonObject {
  const { heldBack = {}, missed = {} } = untold ?? {}
  const gaps = Object.entries(missed).map(([watch, { from, to }]) => [watch, { from, to }])
  return {
    ...(Object.keys(heldBack).length === 0 ? {} : { heldBack: { ...heldBack } }),
    ...(gaps.length === 0 ? {} : { missed: Object.fromEntries(gaps) }),
  }
}
