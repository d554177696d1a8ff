import type { Amounts } from '../core/allowance/amounts.ts'
import { APPENDS_BASE_PATH, type Environment } from '../core/environment/environment.ts'
import type { Variables } from '../core/environment/secrets.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { CommandSpec } from '../core/process/spec.ts'
import type { OutputCaps, SpawnPlan } from '../keeper/protocol/spawn-plan.ts'
import { commandSpecOf } from './command-spec.ts'
import { joinedPaths } from './environment/client.ts'

/** The settings that all commands of one daemon share. */
export interface Settings {
  readonly shell: string
  readonly graceMs: number
  readonly caps: OutputCaps
  readonly tree: 'auto' | 'marker'
}

/** Makes a Python program print without a buffer, so that its output is seen as it comes. */
const UNBUFFERED = { PYTHONUNBUFFERED: '1' }
const TERM = { TERM: 'xterm-256color' }
const MAX_SEGMENTS = 64
const TERMINAL = { cols: 120, rows: 30 }

/** A command's spec with all defaults filled in: what its keeper starts. */
export function planOf(
  record: ProcessRecord,
  base: Readonly<Record<string, string>>,
  environment: { readonly variables: Variables; readonly options: Environment['options'] },
  settings: Settings,
): SpawnPlan {
  const spec = commandSpecOf(record)
  const { runMs, memoryBytes, allowance } = record.limits
  const pty = spec.pty === undefined || spec.pty === false ? null : { ...TERMINAL, ...asObject(spec.pty) }
  return {
    argv: spec.argv ?? [settings.shell, '-c', spec.run ?? ''],
    cwd: record.cwd ?? process.cwd(),
    env: {
      ...(spec.inheritEnv === 'whole' ? ofCaller(base, pty) : ofDaemon(base, pty)),
      ...withPath(environment, base),
      ...spec.env,
    },
    pty,
    stdin: typeof spec.stdin === 'object' ? spec.stdin : (spec.stdin ?? 'null'),
    output: spec.output ?? 'merged',
    caps: capsFor(spec.keepBytes, settings.caps),
    timeoutMs: lower(spec.timeoutMs, runMs),
    idleTimeoutMs: spec.idleTimeoutMs ?? null,
    limits: {
      memoryBytes: lower(spec.limits?.memoryBytes, memoryBytes),
      openFiles: spec.limits?.openFiles ?? null,
      ...ownLimits(record, allowance ?? {}),
    },
    endSignal: endSignalOf(record),
    graceMs: spec.graceMs ?? settings.graceMs,
    tree: settings.tree,
  }
}

function ofDaemon(base: Variables, pty: object | null): Variables {
  return { ...base, ...UNBUFFERED, ...(pty === null ? {} : TERM) }
}

/** The caller's environment and nothing else, except for the type of the terminal. */
function ofCaller(base: Variables, pty: object | null): Variables {
  return { ...(pty === null ? {} : TERM), ...base }
}

/** The limits that the keeper enforces: the lower of allowance and spec, for CPU time and output. */
export function ownLimits({ spec }: ProcessRecord, most: Amounts): OwnLimits {
  const { limits } = commandSpecOf({ spec })
  return {
    cpuSeconds: lower(limits?.cpuSeconds, most.cpuSeconds),
    outputBytes: lower(limits?.outputBytes, most.outputBytes),
  }
}

export type OwnLimits = Pick<SpawnPlan['limits'], 'cpuSeconds' | 'outputBytes'>

export function endSignalOf(record: ProcessRecord): string {
  return commandSpecOf(record).endSignal ?? 'SIGTERM'
}

/** The reason of an end by timeout: the command's own timeout, or the run time limit of its subtree. */
export function timeoutOf({ spec, limits }: ProcessRecord): 'timeout' | 'limit:runMs' {
  const { timeoutMs } = commandSpecOf({ spec })
  const { runMs } = limits
  return runMs !== undefined && (timeoutMs === undefined || runMs < timeoutMs) ? 'limit:runMs' : 'timeout'
}

function lower(one: number | undefined, other: number | undefined): number | null {
  if (one === undefined || other === undefined) return one ?? other ?? null
  return Math.min(one, other)
}

function asObject(pty: Exclude<CommandSpec['pty'], undefined | false>) {
  return pty === true ? {} : pty
}

/** A long log has larger segments, because the cost of a read grows with their number. */
function capsFor(keepBytes: number | undefined, caps: OutputCaps): OutputCaps {
  if (keepBytes === undefined) return caps
  const segmentBytes = Math.max(caps.segmentBytes, Math.ceil(keepBytes / MAX_SEGMENTS))
  return { ...caps, tailBytes: keepBytes, segmentBytes }
}

function withPath(
  { variables, options }: { readonly variables: Variables; readonly options: Environment['options'] },
  base: Readonly<Record<string, string>>,
): Variables {
  const path = variables['PATH']
  if (path === undefined || options[APPENDS_BASE_PATH] !== true) return variables
  return { ...variables, PATH: joinedPaths(path, base['PATH']) }
}
