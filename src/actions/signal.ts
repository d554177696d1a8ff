import type { Commands } from '../command/commands.ts'
import { alreadyEnded, notOurs, whileUp } from '../command/keeper-answer.ts'
import { RefusedError } from '../core/errors.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { isRefusal } from '../core/refusal.ts'
import { interruptScope } from '../kernel/stop-scope.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, asked, finderFor, signalledBy } from './action.ts'
import { type AskedStop, askToStop } from './ask-stop.ts'
import { commandIn } from './command-in.ts'
import { isTracked } from './external-stops.ts'

/** Asks a process, or all processes in a scope, to pause, to resume or to stop; sends signals of the OS. */
export function signalActions(parts: ActionParts): ActionsFor<'signal' | 'interrupt'> {
  const { kernel, actor, commands, externals } = parts
  const { edges } = kernel
  const find = finderFor(parts)
  return {
    async signal({ pid, signal, to, reason, replayKey }) {
      const found = await find(pid)
      if (signal === 'pause' || signal === 'resume') {
        const record = await signalledBy(parts, signal, found)
        if (isTracked(record)) return externals[signal](record, actor)
        const { type, row } = await kernel.perform({ ...asked(parts, found), type: signal })
        return signalAnswer(type, row.record)
      }
      if (signal !== 'interrupt' && signal !== 'cancel' && signal !== 'kill') {
        const record = await signalledBy(parts, signal, found)
        return sendOsSignal(commandIn(commands, record), record, signal, to)
      }
      const { how, record } = await askToStop(kernel, {
        ...asked(parts, found),
        type: 'stop',
        how: signal,
        reason: reason ?? `${signal} by ${actor}`,
        cause: null,
        replayKey: replayKey ?? `${signal}:${edges.newId()}`,
      })
      if (!hasEnded(record) && record.kind === 'external' && how !== 'unrecorded')
        return externals.answer({ how, record }, signal)
      if (!hasEnded(record) || how !== 'kept') return signalAnswer(how, record)
      if (signal === 'interrupt') throw new RefusedError(alreadyEnded(record))
      return { type: 'already_ended', record }
    },
    async interrupt({ scope, reason, tree }) {
      const report = await interruptScope(kernel, actor, scope, {
        reason: reason ?? `interrupt by ${actor}`,
        tree,
      })
      if (isRefusal(report)) throw new RefusedError(report)
      return externals.complete(report)
    },
  }
}

async function sendOsSignal(
  commands: Commands,
  record: ProcessRecord,
  signal: string,
  to: 'process' | 'group',
): Promise<OutputOf<'signal'>> {
  if (hasEnded(record)) throw new RefusedError(alreadyEnded(record))
  const { sent } = await whileUp(
    record,
    commands.keeperOf(record.pid).ask('signal', { pid: record.pid, signal, to }),
  )
  if (sent === 'ended') throw new RefusedError(alreadyEnded(record))
  if (sent === 'not_ours') throw new RefusedError(notOurs(record.pid))
  return { type: 'signalled', record }
}

function signalAnswer(how: AskedStop['how'], record: ProcessRecord): OutputOf<'signal'> {
  const answer = how === 'unrecorded' ? how : how === 'appended' ? 'signalled' : 'unchanged'
  return { type: answer, record }
}
