import { ReeveError, RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { EndAnswer } from '../keeper/protocol/messages.ts'
import { KeeperRefused, LinkLost } from './keeper-link.ts'

/**
 * Turns a keeper's failure to answer about one command into an error for the caller.
 *
 * | the keeper                              | the error                                           |
 * | goes away before it answers             | `outcome_unknown`: it is being replaced              |
 * | knows no such program                   | `not_begun`, or `already_ended` and forgotten        |
 * | cannot do it                            | `keeper_unavailable`                                 |
 */
export async function whileUp<Answer>(record: ProcessRecord, asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof KeeperRefused) throw refusedFor(record, error)
    if (!(error instanceof LinkLost)) throw error
    throw new ReeveError(
      'outcome_unknown',
      'The keeper went away before it answered, and is being replaced: the request may have been carried out or not.',
      'Look at the process, then try again.',
    )
  }
}

function refusedFor(record: ProcessRecord, cause: KeeperRefused): ReeveError {
  const { pid, program } = record
  if (cause.refusal.code !== 'unknown_pid') {
    return new ReeveError(
      'keeper_unavailable',
      `The keeper could not do this for ${pid}: ${cause.message}`,
      'Look at the log of the keeper, below the data folder, then try again.',
      { cause },
    )
  }
  if (program !== null || hasEnded(record)) return new RefusedError(alreadyEnded(record))
  return new RefusedError(
    refusal('not_begun', `The program of ${pid} has not been started yet.`, 'Try again in a moment.'),
  )
}

export function notOurs(pid: Pid): Refusal {
  return refusal(
    'not_ours',
    `The PID that was recorded for ${pid} belongs to another program now, or cannot be read: nothing was signalled.`,
    'Look at the process: its own program has ended.',
  )
}

export function alreadyEnded(record: ProcessRecord): Refusal {
  const { pid, status, outcome } = record
  // The record may be older than the end that the keeper reports.
  const how = hasEnded(record) ? ` (${status})` : ''
  const remedy = 'Its outcome is final: show has it. To run the same once more, use restart.'
  return refusal('already_ended', `${pid} has ended${how}.`, remedy, { outcome })
}

/** The program had ended before the request, and its end is in the store already. */
export function orForgotten(error: unknown): undefined {
  if (!(error instanceof KeeperRefused) || error.refusal.code !== 'unknown_pid') throw error
}

/** Throws an error that names the OS processes which survived the end. */
export function throwIfSurvived(pid: Pid, answer: EndAnswer | undefined): void {
  if (answer?.how !== 'survived') return
  const names = answer.survivors.map(({ osPid, name }) => `${name} (PID ${osPid})`).join(', ')
  throw new RefusedError(
    refusal(
      'survived',
      `${pid} was killed, and these are still alive: ${names}.`,
      'They may hang in the operating system; look at them there.',
      { survivors: answer.survivors },
    ),
  )
}
