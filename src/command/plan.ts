import type { Amounts } from '../core/allowance/amounts.ts'
import { APPENDS_BASE_PATH, type Environment } from '../core/environment/environment.ts'
import type { Variables } from '../core/environment/secrets.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { CommandSpec } from '../core/process/spec.ts'
import type { OutputCaps, SpawnPlan } from '../keeper/protocol/spawn-plan.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Inherited } from '../verbs/shapes/inherited.ts'
import { commandSpecOf } from './command-spec.ts'
import type { BaseEnvironment } from './environment/base.ts'
import { joinedPaths } from './environment/client.ts'
import type { InheritedEnvironments } from './environment/inherited.ts'
import type { NamedSecrets } from './environment/named-secrets.ts'
import type { PassedSecrets } from './environment/passed-secrets.ts'
import { withoutSecrets } from './environment/sanitise.ts'

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

/** Where the variables of a command come from. */
export interface VariableSources {
  readonly environment: BaseEnvironment
  readonly passed: PassedSecrets
  readonly inherited: InheritedEnvironments
}

/** Gathers the variables of a command, and makes the plan that its keeper is asked to start. */
export async function makePlan(
  record: ProcessRecord,
  kernel: Kernel,
  from: VariableSources & { readonly named: NamedSecrets; readonly settings: Settings },
): Promise<SpawnPlan> {
  const environment = await storedEnvironment(record.envRef, kernel)
  const { passEnv: named = [], inheritEnv } = commandSpecOf(record)
  const inherited = await from.inherited.ofStarting(record, kernel)
  // The client's value counts, even if the daemon has another one; a restart may bring another whole environment.
  const values = named.length === 0 ? {} : await from.passed.ofStarting(record, kernel)
  const base = inheritEnv === 'whole' ? {} : await from.environment.variables()
  const fromCaller =
    inheritEnv === 'whole' ? { ...values, ...inherited?.env } : { ...inherited?.env, ...values }
  const variables = { ...withoutSecrets({ ...base, ...values }, named), ...fromCaller }
  const given = { variables: from.named.variablesOf(environment), options: environment?.options ?? {} }
  return { ...planOf(record, variables, given, from.settings), ...withoutEnv(inherited) }
}

/** The names in `passEnv` for which there is no variable: the command runs without them. */
export async function missingEnv(
  record: ProcessRecord,
  kernel: Kernel,
  from: VariableSources,
): Promise<string[]> {
  const { passEnv = [] } = commandSpecOf(record)
  if (passEnv.length === 0) return []
  const sources = [
    await from.environment.variables(),
    await from.passed.of(record),
    (await from.inherited.of(record))?.env ?? {},
    (await storedEnvironment(record.envRef, kernel))?.variables ?? {},
  ]
  return passEnv.filter((name) => sources.every((variables) => variables[name] === undefined))
}

/** A command's spec with all defaults filled in, for the keeper. */
function planOf(
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
export function ownLimits(record: ProcessRecord, most: Amounts): OwnLimits {
  const { limits } = commandSpecOf(record)
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
export function timeoutOf(record: ProcessRecord): 'timeout' | 'limit:runMs' {
  const { timeoutMs } = commandSpecOf(record)
  const { runMs } = record.limits
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

function withoutEnv(inherited: Inherited | null): Omit<Inherited, 'env'> {
  const { env: _, ...limits } = inherited ?? { env: {} }
  return limits
}

async function storedEnvironment(ref: string | null, kernel: Kernel): Promise<Environment | null> {
  return ref === null ? null : kernel.edges.store.ask({ ask: 'environment', ref })
}
