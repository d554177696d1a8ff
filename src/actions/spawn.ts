import type { Commands } from '../command/commands.ts'
import { matcherOf } from '../command/output/pattern.ts'
import type { Amounts } from '../core/allowance/amounts.ts'
import { RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import { awaitsApproval } from '../core/process/gate.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { RegistrationRequest } from '../core/process/register.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { refusal } from '../core/refusal.ts'
import type { Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Registering } from '../kernel/register.ts'
import { liveNamed } from '../kernel/resolve.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import type { CommandSpec } from '../verbs/shapes/command-spec.ts'
import type { Inherited } from '../verbs/shapes/inherited.ts'
import type { ActionParts, ActionsFor } from './action.ts'
import type { AgentFacts } from './agent-facts.ts'
import { DeclaredSchemas } from './declared-schemas.ts'
import { Kills, stillThere } from './kill.ts'
import { checkJson } from './parse.ts'
import { type Passing, registerPassing } from './pass-secrets.ts'
import { namesImage, type ResolvedRequest, withImage } from './resolve-image.ts'

/** How long the answer to a spawn waits for the start of the program; a later start is an event only. */
const START_MS = 10_000

export function spawnActions(parts: ActionParts): ActionsFor<'spawn' | 'spawnMany'> {
  const { kernel, actor, commands, agents } = parts
  const kills = new Kills(parts)
  const endReplaced = async (pid: Pid) => {
    const { type: answer } = await kills.kill(pid, `replaced by ${actor}`, undefined)
    if (answer === 'asked') throw new RefusedError(stillThere(pid))
  }
  const register = (inputs: readonly Input[]) =>
    replacing(endReplaced, () => registerAll(kernel, commands, actor, inputs, { agents }))
  return {
    async spawn(input) {
      const sharing = input.ifRunning === undefined ? await sharedName(kernel, actor, input.name) : {}
      const [registered] = await register([input])
      return whenBegun(kernel, commands, { ...spawnAnswer(registered), ...sharing })
    },
    async spawnMany({ processes }) {
      const registered = await register(processes)
      return {
        processes: await Promise.all(registered.map((one) => whenBegun(kernel, commands, spawnAnswer(one)))),
      }
    },
  }
}

type Input = ParsedInputOf<'spawn'>

/** How often `replace` ends a process that another caller has started under the name meanwhile. */
const MAX_REPLACED = 20

/** Registers; where `ifRunning: 'replace'` finds live processes of the name, it ends them first. */
async function replacing<Answer>(
  end: (pid: Pid) => Promise<void>,
  register: () => Promise<Answer>,
): Promise<Answer> {
  for (let count = 0; ; count++) {
    try {
      return await register()
    } catch (error) {
      const isInUse = error instanceof RefusedError && error.code === 'name_in_use'
      if (!isInUse || count === MAX_REPLACED) throw error
      await Promise.all(pidsIn(error.details['pids']).map(end))
    }
  }
}

function pidsIn(named: unknown): Pid[] {
  return Array.isArray(named) ? named.map(String) : []
}

interface RegisterOptions {
  /** What each registration has besides its request, in the same order. */
  readonly more?: readonly Partial<Registering>[]
  /** Given, it refuses agents whose models cannot be opened. */
  readonly agents?: AgentFacts | undefined
}

export async function registerAll(
  kernel: Kernel,
  commands: Commands | undefined,
  actor: Actor,
  inputs: readonly Input[],
  { more = [], agents }: RegisterOptions = {},
): ReturnType<Kernel['register']> {
  const schemas = new DeclaredSchemas()
  // Only a request with an image waits: the others of this turn of the event loop share a commit.
  const resolved = inputs.some((input) => namesImage(kernel.edges, input))
    ? await Promise.all(inputs.map((input) => imaged(kernel, actor, input)))
    : inputs.map((input): ResolvedRequest => ({ input }))
  if (agents?.opensModels === true && resolved.some(({ input }) => modelIn(input) !== undefined))
    for (const { input } of resolved) await refuseModel(kernel, actor, input, agents)
  const requests = resolved.map(({ input, effects }, index) => ({
    registering: {
      ...registering(input, actor, commands, schemas),
      ...more[index],
      ...(effects === undefined ? {} : { effects }),
    },
    passing: passingOf(input),
  }))
  const isPassing = requests.some(({ passing }) => passing !== undefined)
  return commands === undefined || !isPassing
    ? kernel.register(requests.map((one) => one.registering))
    : registerPassing(kernel, commands, requests)
}

/** The model of an agent that Reeve drives. */
function modelIn(input: Input): string | undefined {
  return input.kind === 'agent' ? input.spec.model : undefined
}

/** What may be there by the first turn: a key, and the file of a script or a recording. */
const MAY_COME: ReadonlySet<string> = new Set(['model_key_missing', 'script_invalid'])

/**
 * A model that cannot be opened is refused before there is an agent: its name is wrong, as a rule. What is missing, or breaks later, ends
 * a turn. A repeated request is the agent that it made.
 */
export async function refuseModel(
  kernel: Kernel,
  actor: Actor,
  input: Input,
  agents: AgentFacts,
): Promise<void> {
  const model = modelIn(input)
  if (model === undefined) return
  const { edges } = kernel
  const parent =
    input.parent === undefined ? null : await edges.store.ask({ ask: 'process', pid: input.parent })
  const allowance = (input.allowance ?? parent?.record.limits.allowance) as Amounts | undefined
  const limits = allowance === undefined ? {} : { allowance }
  const cwd = input.cwd ?? parent?.record.cwd ?? null
  const program = input.kind === 'agent' ? input.spec.program : undefined
  const outside = program === undefined ? {} : { outside: program }
  const refused = await agents.refuseModel({ cwd, limits, ...outside }, model)
  if (refused === undefined || MAY_COME.has(refused.code)) return
  if ((await registeredBefore(kernel, actor, input)) !== null) return
  const { code: problem, message, remedy } = refused
  throw new RefusedError(refusal('invalid_request', message, remedy, { problem }))
}

/** The process that an earlier request with the same key has made. */
async function registeredBefore(
  { edges }: Kernel,
  actor: Actor,
  { pid, idempotencyKey }: Input,
): Promise<ProcessRow | null> {
  const known = pid ?? (idempotencyKey === undefined ? null : await edges.pidForKey(actor, idempotencyKey))
  return known === null ? null : edges.store.ask({ ask: 'process', pid: known })
}

/** The request with the values of its image, if it names one. */
async function imaged(kernel: Kernel, actor: Actor, input: Input): Promise<ResolvedRequest> {
  const { edges } = kernel
  if (!namesImage(edges, input)) return { input }
  const row = await registeredBefore(kernel, actor, input)
  const { image } = row?.record.spec ?? {}
  return withImage(edges, actor, input, typeof image === 'string' ? image : null)
}

function passingOf(input: Input): Passing | undefined {
  const [secrets, inherited] = [secretsOf(input), inheritedOf(input)]
  if (secrets === undefined && inherited === undefined) return undefined
  return { ...(secrets === undefined ? {} : { secrets }), ...(inherited === undefined ? {} : { inherited }) }
}

function inheritedOf(input: Input): Inherited | undefined {
  if (input.kind !== 'command') return undefined
  const { inherited, spec } = input
  if ((spec.inheritEnv === undefined) === (inherited === undefined)) return inherited
  throw new RefusedError(
    refusal(
      'invalid_input',
      inherited === undefined
        ? 'spec.inheritEnv is given without inherited, which has the environment.'
        : 'inherited has an environment, but spec.inheritEnv is missing.',
      'Give both or neither. Only reeve run on the machine of the daemon gives them by itself.',
      { field: inherited === undefined ? 'spec.inheritEnv' : 'inherited' },
    ),
  )
}

function secretsOf(input: Input): Readonly<Record<string, string>> | undefined {
  if (input.kind !== 'command' || input.secrets === undefined) return undefined
  const { passEnv = [] } = input.spec
  const other = Object.keys(input.secrets).find((name) => !passEnv.includes(name))
  if (other === undefined) return input.secrets
  throw new RefusedError(
    refusal(
      'invalid_input',
      `secrets has a value for ${other}, which spec.passEnv does not name.`,
      'Name it in spec.passEnv, or leave its value out.',
      { field: 'secrets' },
    ),
  )
}

type Warning = Pick<OutputOf<'spawn'>, 'warning'>

/** A warning if a live process has this name: from now on the name stands for the new process. */
export async function sharedName(kernel: Kernel, actor: Actor, name: string | undefined): Promise<Warning> {
  const pid = name === undefined ? undefined : await liveNamed(kernel.edges, actor, name)
  return pid === undefined ? {} : { warning: { code: 'name_in_use', pid } }
}

/** Waits until the program of a command has started, or could not be started. */
export async function whenBegun(
  kernel: Kernel,
  commands: Commands | undefined,
  { warning, ...answer }: OutputOf<'spawn'>,
): Promise<OutputOf<'spawn'>> {
  const { type, record } = answer
  if (type !== 'registered') return answer
  const known: Warning = warning === undefined ? {} : { warning }
  if (record.kind !== 'command' || commands === undefined) return { ...answer, ...known }
  // A person may take hours.
  if (awaitsApproval(record)) return { ...answer, ...known }
  const duplicateOf = await liveDuplicate(kernel, commands.duplicateOf(record))
  const begun = await kernel.waits.untilBegun(record, START_MS)
  const names = await commands.missingEnv(record, kernel)
  if (names.length > 0) return { type, record: begun, warning: { code: 'unknown_variables', names } }
  if (duplicateOf === undefined) return { type, record: begun, ...known }
  return { type, record: begun, warning: { code: 'duplicate_of', pid: duplicateOf } }
}

/** An ended command is not a duplicate: the same command runs again. */
async function liveDuplicate(kernel: Kernel, pid: Pid | undefined): Promise<Pid | undefined> {
  if (pid === undefined) return undefined
  const row = await kernel.edges.store.ask({ ask: 'process', pid })
  return row === null || hasEnded(row.record) ? undefined : pid
}

/** The verb `spawn` on behalf of a running process, under its fence. The fence may rise during the call. */
export async function spawnChild(
  kernel: Kernel,
  work: Work,
  input: ParsedInputOf<'spawn'>,
  stepIndex?: number,
): Promise<ProcessRecord> {
  if (passingOf(input) !== undefined)
    throw new RefusedError(
      refusal(
        'invalid_input',
        'A process cannot pass secrets or an environment to a command below it.',
        'Leave secrets and inherited out; spec.passEnv names secrets of the daemon.',
        { field: 'secrets' },
      ),
    )
  const actor = `process:${work.record.pid}` as const
  const { input: asked, effects } = await imaged(kernel, actor, input)
  for (;;) {
    const fence = work.fence()
    try {
      const step = stepIndex === undefined ? {} : { stepIndex }
      const named = effects === undefined ? {} : { effects }
      const child = { ...registering(asked, actor), fence, ...step, ...named }
      return spawnAnswer((await kernel.register([child]))[0]).record
    } catch (error) {
      const stale = error instanceof RefusedError && error.code === 'stale_fence'
      if (!stale || work.fence().fence <= fence.fence) throw error
    }
  }
}

/** Registers a hook at an end of an agent: under the rules and ceilings of the agent, which may have ended. */
export async function registerHook(
  kernel: Kernel,
  agent: ProcessRecord,
  input: ParsedInputOf<'spawn'>,
): Promise<void> {
  const { ceilings = [], pid: hookOf, limits } = agent
  const { memoryBytes } = limits
  const limited = memoryBytes === undefined ? input : { ...input, limits: { ...input.limits, memoryBytes } }
  await kernel.register([{ ...registering(limited, `kernel:${kernel.id}`), hookOf, ceilings }])
}

function registering(
  { pid, idempotencyKey, ...input }: Input,
  actor: Actor,
  commands?: Commands,
  schemas: DeclaredSchemas = new DeclaredSchemas(),
): Registering {
  const { secrets: _, inherited: __, ...request } = { secrets: undefined, inherited: undefined, ...input }
  for (const [type, { schema }] of Object.entries(request.eventTypes ?? {})) schemas.check(type, schema)
  if (request.kind === 'command') checkPatterns(request.spec)
  return {
    // A restarted command runs in this folder, even if the next daemon is started from another one.
    request: {
      ...(withoutUndefined(request) as RegistrationRequest),
      ...(request.kind === 'command' && commands !== undefined ? { defaultCwd: process.cwd() } : {}),
    },
    actor,
    ...(pid === undefined ? {} : { pid }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
}

/** A member that is `undefined` counts as left out. Everything else must be JSON all the way down. */
export function withoutUndefined(request: object): object {
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined))
  checkJson(given as Json, 'request')
  return given
}

/** An invalid pattern is refused now, not at the first line. */
export function checkPatterns({ watch = [], ready }: CommandSpec): void {
  for (const { pattern } of watch) if (pattern !== undefined) matcherOf({ pattern })
  if (ready !== undefined && 'log' in ready) matcherOf({ pattern: ready.log })
}

export function spawnAnswer(
  registered: Awaited<ReturnType<Kernel['register']>>[number] | undefined,
): OutputOf<'spawn'> {
  if (registered === undefined || registered.type === 'refused')
    throw new Error('A registration without an answer')
  return { type: registered.type, record: registered.row.record }
}
