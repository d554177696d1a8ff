import { listeningPorts } from '../command/ports.ts'
import { visibilityOf } from '../core/authority/visibility.ts'
import { RefusedError } from '../core/errors.ts'
import { isDead } from '../core/lease/holder.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import { grant } from '../kernel/grants.ts'
import { PAGE_BYTES } from '../kernel/page.ts'
import { resolve } from '../kernel/resolve.ts'
import { openSession, openTurn, touchSession } from '../kernel/sessions.ts'
import { Sums } from '../kernel/sums.ts'
import type { VerbName } from '../verbs/reeve.ts'
import { type ActsFor, readerFor } from './action.ts'
import { allowanceActs } from './allowances.ts'
import { readChanges } from './changes.ts'
import { heldBackIn, served } from './command-in.ts'
import type { ExternalStops } from './external-stops.ts'
import { holderActs } from './holders.ts'
import { inboxActs } from './inbox.ts'
import { inputActs } from './input.ts'
import { outputActs } from './output.ts'
import type { ReadEffects } from './read-effects.ts'
import type { Reveals } from './reveal.ts'
import { spawnActs, stored } from './spawn.ts'
import { stillThere, stopActs } from './stop.ts'
import { trackActs } from './track.ts'
import { type UpkeepParts, upkeepActs } from './upkeep.ts'
import { type WaitTimes, waitActs } from './wait.ts'
import { workerActs } from './workers.ts'

/** What verbs are performed with. */
export interface ActParts extends UpkeepParts {
  readonly waits: WaitTimes
  readonly reveals: Reveals
  readonly effects: ReadEffects
  readonly externals: ExternalStops
}

/** Each verb, performed by the kernel on behalf of `actor`. Input has been parsed; a refusal is thrown. */
export function actsOf(parts: ActParts): ActsFor<VerbName> {
  const { kernel, actor, commands, waits, reveals, effects, externals } = parts
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
  const read = readerFor(kernel, actor)

  const stops = stopActs(kernel, actor, commands, externals)
  const endReplaced = async (pid: Pid) => {
    const { answer } = await stops.kill({ pid, reason: `replaced by ${actor}` }, {})
    if (answer === 'asked') throw new RefusedError(stillThere(pid))
  }
  return {
    ...spawnActs(kernel, actor, commands, endReplaced),
    ...stops,
    ...trackActs(kernel, actor),
    ...waitActs(kernel, actor, commands, waits, effects),
    ...outputActs(kernel, actor, commands, reveals, effects),
    ...inputActs(kernel, actor, commands),
    ...workerActs(kernel, actor),
    ...holderActs(kernel, actor),
    ...inboxActs(kernel, actor, commands, effects),
    ...allowanceActs(kernel, actor),
    ...upkeepActs(parts),
    async show({ pid, reveal }) {
      const record = await read(pid)
      await reveals.viewFor(actor, record, 'show', reveal)
      return { ...record, ...heldBackIn(commands, record) }
    },
    async list({ filter, after, limit, newestFirst, ports: withPorts, budgets, turn }) {
      const page = await store.ask({
        ask: 'processes',
        filter,
        visibleTo: visibilityOf(actor),
        newestFirst,
        after: after === undefined ? null : Number(after.slice(1)),
        limit,
      })
      const processes = page.items.map(({ record }) => ({
        record,
        shared: edges.authorize(actor, 'read', { type: 'process', record }) !== undefined,
      }))
      for (const { record } of turn === undefined ? [] : processes)
        if (hasEnded(record)) await effects.observe(record.pid, turn ?? '')
      const ports = withPorts ? await listeningPorts(processes.map(({ record }) => record)) : null
      const sums = new Sums(store)
      return {
        processes: await Promise.all(
          processes.map(async (one) => {
            const found = ports?.get(one.record.pid)
            const budget = budgets ? await sums.of(one.record) : null
            const listening = found === undefined ? {} : { ports: found }
            return {
              ...one,
              ...heldBackIn(commands, one.record),
              ...listening,
              ...(budget === null ? {} : { budget }),
            }
          }),
        ),
        next: page.next === null ? null : `c${page.next}`,
      }
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
    async events({ pid, after, tail, limit, reveal }) {
      const record = await read(pid)
      const { pid: found, revision } = record
      await reveals.viewFor(actor, record, 'events', reveal)
      const events = await (tail === undefined
        ? store.ask({ ask: 'events', pid: found, after, limit, bytes: PAGE_BYTES })
        : store.ask({ ask: 'tail', pid: found, limit: tail }))
      return { events: [...events], count: revision }
    },
    changes: ({ after, prunedThrough, filter, limit }) =>
      readChanges(kernel, actor, { after, prunedThrough, filter, limit }),
    changeOwner: async ({ pid, owner }) =>
      (await performOn(pid, (found) => ({ ...asked(found), type: 'changeOwner', owner }))).row.record,
    changeCwd: async ({ pid, cwd }) =>
      (await performOn(pid, (found) => ({ ...asked(found), type: 'change_cwd', cwd }))).row.record,
    abandon: async ({ pid, reason }) =>
      (await performOn(pid, (found) => ({ ...asked(found), type: 'request_abandon', reason }))).row.record,
    setExternalRef: async ({ pid, ref }) =>
      (
        await performOn(pid, (found) => ({
          ...asked(found),
          type: 'set_external_ref',
          ref: stored(ref, 'ref'),
        }))
      ).row.record,
    openSession: ({ session, label, allowance }) =>
      openSession(edges, actor, session, label ?? null, allowance),
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
      revoked: await kernel.revoke(actor, session, await findAll(pids)),
    }),
    transferGrants: async ({ from, to, pids }) => ({
      grants: await kernel.transferGrants(actor, from, to, await findAll(pids)),
    }),
    async grants({ session }) {
      permitSession(session)
      return { grants: [...(await store.ask({ ask: 'grants', session }))] }
    },
    async liveCount({ session, maxAgeMs }) {
      if (session === undefined) permit('read')
      else permitSession(session)
      const since = maxAgeMs === undefined ? null : clock.now() - maxAgeMs
      return store.ask({ ask: 'activity', session: session ?? null, since })
    },
    async putEnvironment(environment) {
      return { envRef: await kernel.putEnvironment(actor, environment) }
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
    async workflows() {
      permit('read')
      const holders = await store.ask({ ask: 'holders' })
      const live = holders.filter((holder) => !isDead(holder, edges.prove(holder)))
      const names = live.flatMap(({ serves }) =>
        serves.flatMap(({ kind, targets }) => (kind === 'workflow' ? (targets ?? []) : [])),
      )
      const counts = new Map<string, number>()
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
      const workflows = [...counts].map(([name, workers]) => ({ name, workers }))
      return { workflows: workflows.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    },
    async whoami() {
      const session = actor.startsWith('session:') ? actor.slice('session:'.length) : null
      return { actor, session, now: edges.clock.now() }
    },
    async refreshEnvironment() {
      permit('write')
      await served(commands).refreshEnvironment()
      return {}
    },
    async recover() {
      permit('admin')
      return kernel.sweep()
    },
  }
}
