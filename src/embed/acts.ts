import { RefusedError } from '../core/errors.ts'
import { type Json, notJson } from '../core/json/json.ts'
import type { StoredEvent } from '../core/process/event.ts'
import { type Filter, matches } from '../core/process/filter.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import type { RegistrationRequest } from '../core/process/register.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { refusal } from '../core/refusal.ts'
import type { Work } from '../kernel/executor.ts'
import { behindPruned } from '../kernel/feed.ts'
import { grant, revoke, transfer } from '../kernel/grants.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Done } from '../kernel/perform.ts'
import type { Registering } from '../kernel/register.ts'
import { refuseRead, resolve } from '../kernel/resolve.ts'
import { openSession, openTurn, touchSession } from '../kernel/sessions.ts'
import type { Waited } from '../kernel/wait.ts'
import type { CallOptions, OutputOf, ParsedInputOf, VerbName } from '../verbs/reeve.ts'
import { compile } from './node-edges.ts'

type Act<Name extends VerbName> = (
  input: ParsedInputOf<Name>,
  options: CallOptions,
) => Promise<OutputOf<Name>>
type Acts = { readonly [Name in VerbName]: Act<Name> }

/** Each verb, performed by the kernel on behalf of `actor`. Input has been parsed; a refusal is thrown. */
export function actsOf(kernel: Kernel, actor: Actor): Acts {
  const { edges } = kernel
  const { store, clock } = edges
  const asked = (pid: Pid) => ({ pid, actor, at: clock.now() }) as const
  const find = (text: string) => resolve(edges, actor, text)
  const findAll = (texts: readonly string[]) => Promise.all(texts.map(find))
  const performOn = async (text: string, intent: (pid: Pid) => Intent) =>
    kernel.perform(intent(await find(text)))
  const permit = (right: 'read' | 'write' | 'admin') => {
    const denied = edges.authorize(actor, right, { type: 'store' })
    if (denied !== undefined) throw new RefusedError(denied)
  }
  const permitSession = (id: string) => {
    const denied = edges.authorize(actor, 'read', { type: 'session', id })
    if (denied !== undefined) throw new RefusedError(denied)
  }
  const read = async (text: string): Promise<ProcessRecord> => {
    const pid = await find(text)
    const row = await store.ask({ ask: 'process', pid })
    if (row === null) throw new RefusedError(await gone(kernel, pid))
    const denied = await refuseRead(edges, actor, row.record)
    if (denied !== undefined) throw new RefusedError(denied)
    return row.record
  }

  return {
    async spawn(input) {
      const [registered] = await kernel.register([registering(input, actor)])
      return spawnAnswer(registered)
    },
    async spawnMany({ processes }) {
      const registered = await kernel.register(processes.map((one) => registering(one, actor)))
      return { processes: registered.map(spawnAnswer) }
    },
    show: ({ pid }) => read(pid),
    async list({ filter, after, limit }) {
      const page = await store.ask({
        ask: 'processes',
        filter,
        after: after === undefined ? null : Number(after.slice(1)),
        limit,
      })
      const processes = []
      for (const { record } of page.items) {
        const own = edges.authorize(actor, 'read', { type: 'process', record }) === undefined
        if (own || (await refuseRead(edges, actor, record)) === undefined)
          processes.push({ record, shared: !own })
      }
      return { processes, next: page.next === null ? null : `c${page.next}` }
    },
    async append({ events }) {
      const intents = events.map(
        ({ pid, type, payload, replayKey }): Intent => ({
          ...asked(pid),
          type: 'append',
          event: type,
          payload: stored(payload, 'payload'),
          replayKey: replayKey ?? null,
          fence: null,
        }),
      )
      const performed = await kernel.performAll(intents)
      return {
        events: performed.map(({ type, row, ...one }) => ({
          how: type === 'replayed' ? ('replayed' as const) : ('appended' as const),
          pid: row.record.pid,
          seq: 'event' in one ? one.event.seq : row.record.revision,
        })),
      }
    },
    async end({ pid, status, exitCode, reason, result, replayKey }) {
      const ending = {
        status,
        exitCode: exitCode ?? null,
        reason: reason ?? null,
        result: stored(result ?? null, 'result'),
      }
      const performed = await performOn(pid, (found) => ({
        ...asked(found),
        type: 'end',
        ending,
        replayKey,
        fence: null,
      }))
      return { how: performed.type === 'replayed' ? 'replayed' : 'ended', record: performed.row.record }
    },
    async signal({ pid, signal, reason, replayKey }) {
      const found = await find(pid)
      if (signal === 'pause' || signal === 'resume')
        return signalAnswer(await kernel.perform({ ...asked(found), type: signal }))
      const key = replayKey ?? `${signal}:${edges.newId()}`
      const performed = await kernel.perform({
        ...asked(found),
        type: 'stop',
        how: signal,
        reason: reason ?? `${signal} by ${actor}`,
        cause: null,
        replayKey: key,
      })
      if (performed.row.record.outcome !== null && performed.type === 'kept') {
        if (signal === 'interrupt')
          throw new RefusedError(
            refusal(
              'already_ended',
              `${found} has ended (${performed.row.record.status}).`,
              'Its outcome is final.',
            ),
          )
        return { answer: 'already_ended', record: performed.row.record }
      }
      return signalAnswer(performed)
    },
    async send({ pid, name, value, id }) {
      const signalId = id ?? edges.newId()
      const performed = await performOn(pid, (found) => ({
        ...asked(found),
        type: 'signal',
        name,
        id: signalId,
        value: stored(value ?? null, 'value'),
      }))
      return { answer: performed.type === 'replayed' ? 'replayed' : 'sent', id: signalId }
    },
    answer: async ({ key, value }) => ({
      answer: await kernel.answer(actor, key, stored(value ?? null, 'value')),
    }),
    async wait({ pid, timeoutMs }, options) {
      const { pid: found } = await read(pid)
      const waited = await kernel.waitForEnd(found, waitOptions(timeoutMs, options))
      if (waited.type === 'done') return { type: 'ended', record: waited.value.record }
      return waited.type === 'interrupted' ? waited : { type: 'timed_out', record: await read(found) }
    },
    async waitAny({ pids, timeoutMs }, options) {
      const found = await Promise.all(pids.map(read))
      const enough = new AbortController()
      const signal =
        options.signal === undefined ? enough.signal : AbortSignal.any([options.signal, enough.signal])
      try {
        const first = await Promise.race(
          found.map(({ pid }) => kernel.waitForEnd(pid, waitOptions(timeoutMs, { signal }))),
        )
        return first.type === 'done' ? { type: 'ended', record: first.value.record } : first
      } finally {
        // The waits that lost the race have nobody to tell.
        enough.abort()
      }
    },
    async waitAll({ pids, timeoutMs }, options) {
      const found = await Promise.all(pids.map(read))
      const all = await Promise.all(
        found.map(({ pid }) => kernel.waitForEnd(pid, waitOptions(timeoutMs, options))),
      )
      const done = all.filter(
        (one): one is Extract<Waited<ProcessRow>, { type: 'done' }> => one.type === 'done',
      )
      const missing = all.find((one) => one.type !== 'done')
      return {
        type: missing === undefined ? 'ended' : missing.type,
        records: done.map(({ value }) => value.record),
      } as OutputOf<'waitAll'>
    },
    async waitFor({ pid, types, after, timeoutMs }, options) {
      const { pid: found } = await read(pid)
      const waited = await kernel.waitForEvent(
        found,
        after,
        (event) => types.includes(event.type),
        waitOptions(timeoutMs, options),
      )
      return waited.type === 'done' ? { type: 'heard', event: waited.value } : waited
    },
    async events({ pid, after, tail, limit }) {
      const { pid: found, revision } = await read(pid)
      const events = await (tail === undefined
        ? store.ask({ ask: 'events', pid: found, after, limit })
        : store.ask({ ask: 'tail', pid: found, limit: tail }))
      return { events: [...events], count: revision }
    },
    async changes({ after, prunedThrough: known, filter, limit }) {
      const { events, prunedThrough } = await store.ask({ ask: 'changes', after, limit })
      const behind = after > 0 && after < prunedThrough && known < prunedThrough
      if (behind) throw new RefusedError(behindPruned(after, prunedThrough))
      const wanted = await wantedOf(kernel, actor, events, filter)
      return { events: wanted, position: events.at(-1)?.position ?? after, prunedThrough }
    },
    reown: async ({ pid, owner }) =>
      (await performOn(pid, (found) => ({ ...asked(found), type: 'reown', owner }))).row.record,
    changeCwd: async ({ pid, cwd }) =>
      (await performOn(pid, (found) => ({ ...asked(found), type: 'change_cwd', cwd }))).row.record,
    abandon: async ({ pid, reason }) =>
      (await performOn(pid, (found) => ({ ...asked(found), type: 'request_abandon', reason }))).row.record,
    refer: async ({ pid, ref }) =>
      (
        await performOn(pid, (found) => ({
          ...asked(found),
          type: 'set_external_ref',
          ref: stored(ref, 'ref'),
        }))
      ).row.record,
    openSession: ({ session, label }) => openSession(edges, actor, session, label ?? null),
    touchSession: ({ session }) => touchSession(edges, actor, session),
    endSession: ({ session }) => kernel.endSession(actor, session),
    async deleteSession({ session }) {
      const { stopped, orphaned, preserved, ...counts } = await kernel.deleteSession(actor, session)
      return { ...counts, stopped: [...stopped], orphaned: [...orphaned], preserved: [...preserved] }
    },
    async sessions({ after, limit }) {
      permit('read')
      return { sessions: [...(await store.ask({ ask: 'sessions', after: after ?? null, limit }))] }
    },
    openTurn: (id) => openTurn(edges, actor, id),
    endTurn: (id) => kernel.endTurn(actor, id),
    grant: async ({ session, pids, descriptor }) => ({
      grants: await grant(
        edges,
        actor,
        session,
        await findAll(pids),
        stored(descriptor ?? null, 'descriptor'),
      ),
    }),
    revoke: async ({ session, pids }) => ({
      revoked: await revoke(edges, actor, session, await findAll(pids)),
    }),
    transferGrants: async ({ from, to, pids }) => ({
      grants: await transfer(edges, actor, from, to, await findAll(pids)),
    }),
    async grants({ session }) {
      permitSession(session)
      return { grants: [...(await store.ask({ ask: 'grants', session }))] }
    },
    async activity({ session, maxAgeMs }) {
      if (session === undefined) permit('read')
      else permitSession(session)
      const since = maxAgeMs === undefined ? null : clock.now() - maxAgeMs
      return store.ask({ ask: 'activity', session: session ?? null, since })
    },
    async prune({ olderThanMs, keep }) {
      permit('admin')
      const endedBefore = olderThanMs === undefined ? {} : { endedBefore: clock.now() - olderThanMs }
      return { pruned: await kernel.prune({ ...endedBefore, ...(keep === undefined ? {} : { keep }) }) }
    },
    async putEnvironment(environment) {
      permit('write')
      return { envRef: await kernel.putEnvironment(environment) }
    },
    async environment({ envRef }) {
      permit('read')
      const environment = await store.ask({ ask: 'environment', ref: envRef })
      if (environment === null)
        throw new RefusedError(
          refusal('environment_unknown', `There is no environment ${envRef}.`, 'Store it first.'),
        )
      return environment
    },
    async notices({ scope, after, limit }) {
      if (scope.startsWith('session:')) permitSession(scope.slice('session:'.length))
      else if (scope !== actor) permit('read')
      return { notices: [...(await store.ask({ ask: 'notices', scope, after, limit }))] }
    },
    async recover() {
      permit('admin')
      return kernel.sweep()
    },
  }
}

/** The verb `spawn` for a process that is executed here: under its fence, which may rise while it is under way. */
export async function spawnChild(
  kernel: Kernel,
  work: Work,
  input: ParsedInputOf<'spawn'>,
): Promise<ProcessRecord> {
  for (;;) {
    const fence = work.fence()
    try {
      const child = { ...registering(input, `process:${work.record.pid}`), fence }
      return spawnAnswer((await kernel.register([child]))[0]).record
    } catch (error) {
      const stale = error instanceof RefusedError && error.code === 'stale_fence'
      if (!stale || work.fence().fence <= fence.fence) throw error
    }
  }
}

/** Which of these events belong to processes that the actor may read and the filter wants. */
export async function wantedOf(
  kernel: Kernel,
  actor: Actor,
  events: readonly StoredEvent[],
  filter: Filter | undefined,
): Promise<StoredEvent[]> {
  if (filter === undefined && actor === 'host') return [...events]
  const known = new Map<Pid, boolean>()
  const wanted: StoredEvent[] = []
  for (const event of events) {
    let wants = known.get(event.pid)
    if (wants === undefined) {
      const row = await kernel.edges.store.ask({ ask: 'process', pid: event.pid })
      wants =
        row !== null &&
        matches(row.record, { status: 'any', ...filter }) &&
        (await refuseRead(kernel.edges, actor, row.record)) === undefined
      known.set(event.pid, wants)
    }
    if (wants) wanted.push(event)
  }
  return wanted
}

function registering({ pid, idempotencyKey, ...request }: ParsedInputOf<'spawn'>, actor: Actor): Registering {
  for (const [type, { schema }] of Object.entries(request.eventTypes ?? {})) checkSchema(type, schema)
  return {
    request: withoutUndefined(request) as unknown as RegistrationRequest,
    actor,
    ...(pid === undefined ? {} : { pid }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
}

/** `undefined` is how a caller leaves a field out. Everything else must be JSON all the way down. */
function withoutUndefined(request: object): object {
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined))
  stored(given as Json, 'request')
  return given
}

function checkSchema(type: string, schema: { readonly [key: string]: Json }): void {
  try {
    compile(schema)
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    throw new RefusedError(
      refusal(
        'invalid_input',
        `The schema of event type ${type} is not a JSON Schema that can be used: ${said}.`,
        'Correct the schema.',
      ),
    )
  }
}

function stored(value: Json, field: string): Json {
  const wrong = notJson(value)
  if (wrong !== undefined)
    throw new RefusedError(refusal('invalid_input', `${field}: ${wrong}.`, 'Send plain JSON.', { field }))
  return value
}

function spawnAnswer(
  registered: Awaited<ReturnType<Kernel['register']>>[number] | undefined,
): OutputOf<'spawn'> {
  if (registered === undefined || registered.type === 'refused')
    throw new Error('A registration without an answer')
  return { type: registered.type, record: registered.row.record }
}

function signalAnswer({ type, row }: Done): OutputOf<'signal'> {
  return { answer: type === 'appended' ? 'signalled' : 'unchanged', record: row.record }
}

function waitOptions(timeoutMs: number | undefined, { signal }: CallOptions) {
  return { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(signal === undefined ? {} : { signal }) }
}

async function gone(kernel: Kernel, pid: Pid) {
  const tombstone = await kernel.edges.store.ask({ ask: 'tombstone', pid })
  return tombstone === null
    ? refusal('unknown_pid', `There is no process ${pid}.`, 'List the processes to see which there are.')
    : refusal('pruned_pid', `${pid} ended and has been pruned.`, 'Its record and events are gone.')
}
