import { listeningPorts } from '../command/ports.ts'
import { visibilityOf } from '../core/authority/visibility.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded } from '../core/process/record.ts'
import { Sums } from '../kernel/sums.ts'
import { type ActionParts, type ActionsFor, asked, finderFor, readerFor } from './action.ts'
import { heldBackIn } from './command-in.ts'
import { checkJson } from './parse.ts'
import { revealRequest } from './reveal.ts'

/** Reads processes, and changes facts about them. */
export function processActions(
  parts: ActionParts,
): ActionsFor<'show' | 'list' | 'end' | 'abandon' | 'changeOwner' | 'changeCwd' | 'setExternalRef'> {
  const { kernel, actor, commands, reveals, effects } = parts
  const { edges } = kernel
  const find = finderFor(parts)
  const read = readerFor(parts)
  const performOn = async (text: string, intent: (pid: Pid) => Intent) =>
    kernel.perform(intent(await find(text)))
  return {
    async show({ pid, reveal }, options) {
      const record = await read(pid)
      await reveals.viewFor(revealRequest(actor, 'show', options), record, reveal)
      return { ...record, ...heldBackIn(commands, record) }
    },
    async list({ filter, after, limit, newestFirst, ports: withPorts, budgets, turn }) {
      const page = await edges.store.ask({
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
      const sums = new Sums(edges.store)
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
    async end({ pid, status, exitCode, reason, result, replayKey }) {
      const ending = {
        status,
        exitCode: exitCode ?? null,
        reason: reason ?? null,
        result: checkJson(result ?? null, 'result'),
      }
      const performed = await performOn(pid, (found) => ({
        ...asked(parts, found),
        type: 'end',
        ending,
        replayKey,
        fence: null,
      }))
      return { type: performed.type === 'replayed' ? 'replayed' : 'ended', record: performed.row.record }
    },
    abandon: async ({ pid, reason }) =>
      (await performOn(pid, (found) => ({ ...asked(parts, found), type: 'request_abandon', reason }))).row
        .record,
    changeOwner: async ({ pid, owner }) =>
      (await performOn(pid, (found) => ({ ...asked(parts, found), type: 'change_owner', owner }))).row.record,
    changeCwd: async ({ pid, cwd }) =>
      (await performOn(pid, (found) => ({ ...asked(parts, found), type: 'change_cwd', cwd }))).row.record,
    setExternalRef: async ({ pid, ref }) =>
      (
        await performOn(pid, (found) => ({
          ...asked(parts, found),
          type: 'set_external_ref',
          ref: checkJson(ref, 'ref'),
        }))
      ).row.record,
  }
}
