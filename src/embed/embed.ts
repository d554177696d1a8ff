import * as z from 'zod'
import { Commands, type CommandsOptions } from '../command/commands.ts'
import { FLOOD_LIMITS, type FloodLimits } from '../core/inbox/flood.ts'
import type { Holder } from '../core/lease/holder.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import { Engines } from '../engine/in-kernel.ts'
import { Kernel } from '../kernel/kernel.ts'
import { kernelClosed } from '../kernel/wait.ts'
import type { Store } from '../store/contract.ts'
import { openSqlite } from '../store/sqlite/open.ts'
import { inProcess, type SpawnAs, type ToolHandler } from '../tool/in-process.ts'
import type { EngineFunction, RetryPolicy } from '../verbs/durable-function.ts'
import { followInbox } from '../verbs/follow-inbox.ts'
import {
  type Acting,
  type CallOptions,
  type EngineHost,
  type InputOf,
  type Reeve,
  verbs,
} from '../verbs/reeve.ts'
import { filter } from '../verbs/shapes/filter.ts'
import { consumer, scope } from '../verbs/shapes/notice.ts'
import { actor } from '../verbs/shapes/record.ts'
import { count, duration, processRef, turnId } from '../verbs/shapes/scalars.ts'
import { actsOf, wantedOf } from './acts.ts'
import { attach, followLog } from './attach.ts'
import { ownIdentity } from './identity.ts'
import { inboxActs } from './inbox-acts.ts'
import { nodeEdges } from './node-edges.ts'
import { parse } from './parse.ts'
import { spawnChild } from './spawn-acts.ts'
import type { WaitTimes } from './wait-acts.ts'

export interface EmbedOptions {
  /** A file for SQLite, a `postgres://` URL, or a store of your own. A store that is opened here is closed here. */
  readonly store: string | Store
  /** The functions that run `tool` processes in this program. */
  readonly tools?: Readonly<Record<string, ToolHandler>>
  /** Durable functions that run `engine` processes in this program. */
  readonly engines?: Readonly<Record<string, EngineFunction>>
  /** Runs `command` processes, with their output, pipes and keeper in this folder. */
  readonly commands?: CommandsOptions
  /** How many processes run here at once, commands not counted. */
  readonly concurrency?: number
  /** Hears of errors in work that nobody waits for; by default they become process warnings. */
  readonly onTrouble?: (error: unknown, doing: string) => void
  /** How often this kernel shows that it lives, after how long it counts as dead, and how often it looks after others. */
  readonly times?: { readonly renewMs?: number; readonly ttlMs?: number; readonly sweepMs?: number }
  /** How many watch matches a session is told; what is left out is as usual. */
  readonly flood?: Partial<FloodLimits>
  /** How long a `wait` lasts that does not say, and how long it may last at most. */
  readonly waits?: { readonly defaultMs?: number; readonly mostMs?: number }
}

export interface Embedded extends Reeve, EngineHost {
  /** The place in the change feed that was heard last: whoever follows from here misses nothing that is read from now on. */
  position(): number
  /** What `close` does first, on its own: whoever waits for one of these commands can still be told. Which these were. */
  endWithDaemon(): Promise<readonly Pid[]>
}

const TIMES = { renewMs: 10_000, ttlMs: 30_000, sweepMs: 10_000 }
const BACKOFF = { baseMs: 1_000, maxMs: 60_000 }
const CONCURRENCY = 1_000
const WAITS = { defaultMs: 180_000, mostMs: 24 * 60 * 60 * 1_000 }
const TIDY_MS = 60_000
const BOOT_MS = 2_000

/**
 * Runs a kernel inside this program.
 *
 * ```ts
 * const reeve = await embed({ store: 'reeve.db', tools: { greet: ({ input }) => `hello ${input}` } })
 * const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'greet', input: 'world' } })
 * const ended = await reeve.wait({ pid: record.pid })
 * await reeve.close()
 * ```
 */
export async function embed(options: EmbedOptions): Promise<Embedded> {
  parse(OPTIONS, options, 'embed')
  const store = typeof options.store === 'string' ? await openStore(options.store) : options.store
  const holder = ownIdentity()
  let unlock: (() => void) | undefined
  const leave = async () => {
    unlock?.()
    if (typeof options.store === 'string') await store.close()
  }
  try {
    unlock = store.locks?.hold(holder.id)
    return await start(store, holder, leave, options)
  } catch (error) {
    await leave()
    throw error
  }
}

async function start(
  store: Store,
  holder: Holder,
  leave: () => Promise<void>,
  options: EmbedOptions,
): Promise<Embedded> {
  const onTrouble = options.onTrouble ?? warn
  const { osPid, startTime, id } = holder
  const commands =
    options.commands === undefined
      ? undefined
      : await Commands.open(options.commands, { osPid, startTime, id }, onTrouble)
  const waits = { ...WAITS, ...options.waits }
  const spawnAs: SpawnAs = (work, request) =>
    spawnChild(kernel, work, parse(verbs.spawn.input, request, 'spawn'))
  const engines = new Engines((work, request, place) => {
    const child = { ...request, parent: work.record.pid, idempotencyKey: `step:${place}` }
    return spawnChild(kernel, work, parse(verbs.spawn.input, child, 'spawn'), place)
  })
  for (const [name, run] of Object.entries(options.engines ?? {})) engines.add(name, run)
  const tools = options.tools === undefined ? [] : [inProcess(options.tools, spawnAs)]
  const kernel = new Kernel(nodeEdges(store, onTrouble, { ...FLOOD_LIMITS, ...options.flood }), {
    holder,
    executors: [engines, ...tools, ...(commands?.executors ?? [])],
    concurrency: options.concurrency ?? CONCURRENCY,
    times: { ...TIMES, ...options.times },
    backoff: BACKOFF,
  })
  let closing: Promise<void> | undefined
  const close = ({ keep = false }: { readonly keep?: boolean } = {}) => {
    closing ??= closeAll(kernel, commands, leave, keep)
    return closing
  }
  try {
    commands?.serve(kernel)
    await commands?.refuseWrongStore(kernel)
    await kernel.start()
    await settledAtBoot(kernel)
    await commands?.clearStrays(kernel)
    commands?.tidy(kernel, TIDY_MS)
  } catch (error) {
    await commands?.close()
    throw error
  }
  return {
    ...acting(kernel, 'host', commands, waits),
    as: (other) => acting(kernel, parse(actor, other, 'as'), commands, waits),
    async engine(name, run, given = {}) {
      const engine = parse(ENGINE, { name, run, options: given }, 'engine')
      engines.add(engine.name, engine.run, engine.options)
      await kernel.announce()
    },
    position: () => kernel.feed.position,
    endWithDaemon: () => kernel.endWithDaemon(),
    close,
  }
}

/** What ended while no daemon was there is on record before anybody asks. A store that cannot take it now takes it later. */
async function settledAtBoot(kernel: Kernel): Promise<void> {
  const { completed, abandoned } = kernel.boot
  const known = [...completed, ...abandoned].map((pid) => kernel.waitForEnd(pid, { timeoutMs: BOOT_MS }))
  await Promise.all(known)
}

/** The store and the lock are let go even if the kernel could not hand everything back. */
async function closeAll(
  kernel: Kernel,
  commands: Commands | undefined,
  leave: () => Promise<void>,
  keep: boolean,
): Promise<void> {
  try {
    await kernel.close(keep)
    await commands?.close()
  } finally {
    await leave()
  }
}

async function openStore(place: string): Promise<Store> {
  if (!/^postgres(ql)?:/.test(place)) return openSqlite(place)
  const { openPostgres } = await import('../store/postgres/open.ts')
  return openPostgres(place)
}

function acting(kernel: Kernel, actor: Actor, commands: Commands | undefined, waits: WaitTimes): Acting {
  const acts = actsOf(kernel, actor, commands, waits) as Record<
    string,
    (input: unknown, options: CallOptions) => Promise<unknown>
  >
  const called = Object.entries(verbs).map(([name, { input }]) => [
    name,
    async (given: unknown, options: CallOptions = {}) => {
      if (kernel.isClosed) throw kernelClosed()
      return acts[name]?.(parse(input, given ?? {}, name), options)
    },
  ])
  return {
    ...(Object.fromEntries(called) as Omit<
      Acting,
      'kernel' | 'follow' | 'followOutput' | 'inbox' | 'attach'
    >),
    kernel: kernel.id,
    inbox: (given, options = {}) => {
      const parsed = parse(FOLLOW_INBOX, given, 'inbox')
      const { notices, takeNotices } = inboxActs(kernel, actor, commands)
      const asked = {
        notices: async (input: InputOf<'notices'>, called: CallOptions) =>
          notices(parse(verbs.notices.input, input, 'inbox'), called),
        takeNotices: async (input: InputOf<'takeNotices'>, called: CallOptions) =>
          takeNotices(parse(verbs.takeNotices.input, input, 'inbox'), called),
      }
      return followInbox(asked, parsed, options)
    },
    follow: (given = {}, options = {}) => follow(kernel, actor, given, options),
    followOutput: (given, options = {}) =>
      followLog(kernel, actor, commands, parse(FOLLOW_OUTPUT, given, 'followOutput'), options),
    attach: async (given, options = {}) =>
      attach(kernel, actor, commands, parse(ATTACH, given, 'attach'), options),
  }
}

async function* follow(
  kernel: Kernel,
  actor: Actor,
  given: { after?: number; filter?: z.input<typeof filter> },
  { signal }: CallOptions,
): AsyncGenerator<StoredEvent, void, void> {
  const parsed = parse(FOLLOW, given, 'follow')
  for await (const event of kernel.follow(parsed.after, () => true, signal)) {
    const [wanted] = await wantedOf(kernel, actor, [event], parsed.filter)
    if (wanted !== undefined) yield wanted
  }
}

const bytes = z.number().int().min(1).optional()
const COMMANDS = z.strictObject({
  home: z.string().min(1),
  most: z.number().int().min(1).max(10_000).optional(),
  graceMs: z.number().int().min(0).optional(),
  environment: z.enum(['login', 'inherit']).optional(),
  shell: z.string().min(1).optional(),
  tree: z.enum(['auto', 'marker']).optional(),
  output: z
    .strictObject({ headBytes: bytes, tailBytes: bytes, totalBytes: bytes, minFreeBytes: bytes })
    .optional(),
})

const engineFunction = z.custom<EngineFunction>((run) => typeof run === 'function', 'must be a function')
const milliseconds = z.number().min(0)
const ENGINE = z.strictObject({
  name: z.string().min(1),
  run: engineFunction,
  options: z.strictObject({
    retry: z
      .strictObject({
        times: z.number().int().min(0),
        backoffMs: milliseconds.exactOptional(),
        factor: z.number().min(1).exactOptional(),
        maxBackoffMs: milliseconds.exactOptional(),
        when: z
          .custom<NonNullable<RetryPolicy['when']>>(
            (when) => typeof when === 'function',
            'must be a function',
          )
          .exactOptional(),
      })
      .exactOptional(),
    parkAfterMs: milliseconds.exactOptional(),
  }),
})

const OPTIONS = z.strictObject({
  store: z.union(
    [z.string().min(1), z.custom<Store>(isStore)],
    'must be a file, a postgres:// URL, or a store',
  ),
  tools: z
    .record(
      z.string().min(1),
      z.custom<ToolHandler>((tool) => typeof tool === 'function', 'must be a function'),
    )
    .optional(),
  engines: z.record(z.string().min(1), engineFunction).optional(),
  concurrency: z.number().int().min(1).max(100_000).optional(),
  onTrouble: z
    .custom<EmbedOptions['onTrouble']>((listener) => typeof listener === 'function', 'must be a function')
    .optional(),
  times: z
    .strictObject({
      renewMs: z.number().int().min(1).optional(),
      ttlMs: z.number().int().min(1).optional(),
      sweepMs: z.number().int().min(1).optional(),
    })
    .optional(),
  waits: z
    .strictObject({
      defaultMs: z.number().int().min(1).optional(),
      mostMs: z
        .number()
        .int()
        .min(1)
        .max(2 ** 31 - 1)
        .optional(),
    })
    .optional(),
  commands: COMMANDS.optional(),
  flood: z
    .strictObject({
      everyMs: z.number().int().min(0).optional(),
      strikes: z.number().int().min(1).optional(),
      burst: z.number().int().min(1).max(1_000).optional(),
      burstMs: z.number().int().min(0).optional(),
      silenceMs: z.number().int().min(0).optional(),
    })
    .optional(),
})

function isStore(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && 'ask' in value && 'write' in value && 'onCommit' in value
  )
}

const FOLLOW_OUTPUT = z.strictObject({ pid: processRef, offset: count.default(0) })
const ATTACH = z.strictObject({ pid: processRef, scrollback: count.default(64 * 1024) })
const FOLLOW_INBOX = z.strictObject({
  scope,
  consumer: consumer.exactOptional(),
  after: count.exactOptional(),
  take: z.strictObject({ visibilityMs: duration.min(1).exactOptional() }).exactOptional(),
  turn: turnId.exactOptional(),
})
const FOLLOW = z.strictObject({
  after: z.number().int().nonnegative().default(0),
  filter: filter.exactOptional(),
})

function warn(error: unknown, doing: string): void {
  const said = error instanceof Error ? error.message : String(error)
  process.emitWarning(`While ${doing}: ${said}`, { type: 'ReeveWarning' })
}
