import { type Json, type JsonObject, objectOf } from '../json/json.ts'
import type { Notice } from './notice.ts'

/** How much of the end of a command's output a notice of its end carries. */
export const TAIL_CHARS = 2_000

/** Facts that are known when a notice is read, and not when it is written: the output is only in a log file. */
export interface Told extends Notice {
  /** The end of the process's output, without escape sequences; null if it has none or it is not kept. */
  readonly tail: string | null
}

/**
 * A notice as a self-contained text: the process, its command or request, the time, and the outcome. It is made
 * on reading, because the output cannot be read where notices are written, an append must stay small, and the surface that
 * shows it words it and masks its secrets.
 */
export function sentenceOf(told: Told): string {
  const payload = objectOf(told.payload)
  switch (told.kind) {
    case 'completion':
      return completion(told, payload)
    case 'group_completion':
      return groupCompletion(payload)
    case 'watch_match':
      return watchMatch(told, payload)
    case 'watch_disabled':
      return `${nameOf(told, payload)} printed what the watch ${wantedIn(payload)} looks for too often: it is disabled since ${timeOf(told.at)}, with ${counted(payload['heldBack'], 'line')} not told. You will hear when the process has ended.`
    case 'overflow_tripped':
      return `Too many watch matches at once, at ${timeOf(told.at)}: further ones are held back for a while, this one of ${nameOf(told, payload)} included. You will be told how many they were. Nothing else is held back.`
    case 'overflow_released':
      return `Watch matches are told again since ${timeOf(told.at)}. Held back since ${timeOf(payload['trippedAt'])}: ${counted(payload['held'], 'match', 'matches')}; the processes' logs have them.`
    case 'ready':
      return payload['ready'] === true
        ? `${nameOf(told, payload)} is ready since ${timeOf(told.at)}: ${readyBy(payload)}.${elsewhere(payload)}`
        : `${nameOf(told, payload)} was not ready within ${seconds(payload['timeoutMs'])}, until ${timeOf(told.at)}: ${readyBy(payload)} was waited for.${lastTry(payload)} It runs on.`
    case 'heartbeat':
      return `${nameOf(told, payload)} still runs at ${timeOf(told.at)}, and printed ${counted(payload['newBytes'], 'byte')} since the last word of it.${tailOf(told)}`
    case 'approval':
      return approval(told, payload)
    case 'limit_warning':
      return limitWarning(told, payload)
    case 'message':
      return message(told, payload)
    case 'report':
      return textOf(payload['text'])
    case 'wake':
      return `${nameOf(told, payload)} said ${textOf(payload['type'])} at ${timeOf(told.at)}: ${JSON.stringify(payload['value'])}`
  }
}

function completion(told: Told, payload: JsonObject): string {
  const { status, exitCode, signal, reason, source, evidence, startedAt, endedAt } = payload
  const details = [
    ...(typeof exitCode === 'number' ? [`exit code ${exitCode}`] : []),
    ...(typeof signal === 'string' ? [`signal ${signal}`] : []),
    ...(typeof reason === 'string' ? [`reason ${reason}`] : []),
    ...(typeof source === 'string' ? [`asked by ${source}`] : []),
    ...(typeof evidence === 'string' ? [`evidence ${evidence}: its end was not seen`] : []),
  ]
  const how = details.length === 0 ? '' : ` (${details.join(', ')})`
  const begun = typeof startedAt === 'number' ? `started ${timeOf(startedAt)}` : 'never started'
  const held = Object.entries(objectOf(payload['heldBack']))
  const also = held.map(
    ([watch, lines]) => ` Since its last match the watch ${watch} held back ${counted(lines, 'line')}.`,
  )
  const missed = Object.entries(objectOf(payload['missed'])).map(([watch, gap]) => {
    const { from, to } = objectOf(gap)
    return ` The watch ${watch} missed output between byte ${textOf(from)} and byte ${textOf(to)}.`
  })
  return `${nameOf(told, payload)} ${textOf(status)}${how}; ${begun}, ended ${timeOf(endedAt)}.${whyNot(payload)}${saidByPerson(payload)}${restartedAs(payload)}${[...also, ...missed].join('')}${tailOf(told)}`
}

/** Why a program could not be started, and what to do. */
function whyNot({ message, remedy }: JsonObject): string {
  return [message, remedy].map((text) => (typeof text === 'string' ? ` ${text}` : '')).join('')
}

function saidByPerson({ reply, advice }: JsonObject): string {
  if (typeof reply === 'string') return ` The reply: ${reply}`
  return typeof advice === 'string' ? ` The person's advice: ${advice}` : ''
}

function restartedAs({ restart }: JsonObject): string {
  const { pid, refused } = objectOf(restart)
  if (typeof pid === 'string') return ` It is started again as ${pid}.`
  return typeof refused === 'string' ? ` It is not started again: ${refused.replace(/\.$/, '')}.` : ''
}

function approval(told: Told, payload: JsonObject): string {
  const { approval: id, wait, how, until, question } = payload
  const since = `since ${timeOf(told.at)}`
  if (how === 'approved') return approved(told, payload)
  const deadline = typeof until === 'number' ? `, until ${timeOf(until)}` : ''
  if (question === true)
    return `A person is asked ${since}${deadline}: ${nameOf(told, payload)}. You will be told the reply here (approval ${textOf(id)}).`
  if (id !== undefined)
    return `A person is asked ${since}${deadline} whether ${nameOf(told, payload)} may run (approval ${textOf(id)}). You will be told the answer here.`
  return `${nameOf(told, payload)} waits ${since} for approval of ${textOf(wait)}${deadline}. It goes on when that is answered.`
}

/** An agent that is not told of an edit takes the result for that of its own command. */
function approved(told: Told, payload: JsonObject): string {
  const { runs, changed } = payload
  const who = `A person approved ${nameOf(told, payload)}`
  if (runs === undefined) return `${who} at ${timeOf(told.at)}: it begins now.`
  const members = Array.isArray(changed) ? changed.map(textOf).join(', ') : ''
  return `${who} with changes (${members}) at ${timeOf(told.at)}. This runs instead: ${textOf(runs)}`
}

function message(told: Told, payload: JsonObject): string {
  const { from, channel, correlationId, replyTo, priority, value } = payload
  const sender = payload['label'] === undefined ? textOf(from) : nameOf(told, payload)
  const details = [
    ...(typeof channel === 'string' ? [`channel ${channel}`] : []),
    ...(typeof correlationId === 'string' ? [`correlation id ${correlationId}`] : []),
    ...(typeof replyTo === 'string' ? [`reply to ${replyTo}`] : []),
  ]
  const about = details.length === 0 ? '' : ` (${details.join(', ')})`
  const what = priority === 'interrupt' ? 'an urgent message' : 'a message'
  return `${sender} sent ${what}${about} at ${timeOf(told.at)}: ${textOf(value)}`
}

function limitWarning(told: Told, payload: JsonObject): string {
  const { limit, given, spent, carved } = payload
  const below = Number(carved ?? 0) > 0 ? `, and ${Number(carved)} are with processes it started` : ''
  return `${nameOf(told, payload)} comes near its limit ${textOf(limit)}: of ${Number(given)} it has spent ${Number(spent)}${below}, at ${timeOf(told.at)}. What goes beyond is refused, or ends it.`
}

function groupCompletion(payload: JsonObject): string {
  const seats = Array.isArray(payload['seats']) ? (payload['seats'] as readonly Json[]) : []
  const each = seats.map((seat) => {
    const { pid, outcome } = objectOf(seat)
    const { status, exitCode, reason } = objectOf(outcome)
    const code = typeof exitCode === 'number' ? ` (exit code ${exitCode})` : ''
    const why = typeof reason === 'string' ? ` (${reason})` : ''
    return `${textOf(pid)} ${textOf(status)}${code}${why}`
  })
  return `All ${seats.length} of the group ${textOf(payload['group'])} have ended: ${each.join(', ')}.`
}

function watchMatch(told: Told, payload: JsonObject): string {
  const lines = Array.isArray(payload['lines']) ? payload['lines'].map(textOf) : []
  const missed = objectOf(payload['missed'])
  const gap =
    typeof missed['from'] === 'number'
      ? ` Its output from byte ${missed['from']} to ${String(missed['to'])} was dropped before it could be looked at.`
      : ''
  const more = Number(payload['more'] ?? 0)
  const held = Number(payload['heldBack'] ?? 0)
  const rest = [
    ...(more > 0 ? [`${counted(more, 'more line')} of the same moment`] : []),
    ...(held > 0 ? [`${counted(held, 'line')} held back since the last match`] : []),
  ]
  const besides = rest.length === 0 ? '' : ` Besides: ${rest.join(', ')}.`
  const found =
    lines.length === 0
      ? `${nameOf(told, payload)} is watched for ${wantedIn(payload)}, at ${timeOf(told.at)}.`
      : `${nameOf(told, payload)} printed what the watch ${wantedIn(payload)} looks for, at ${timeOf(told.at)}.`
  return `${found}${gap}${besides}${lines.length === 0 ? '' : `\n${lines.join('\n')}`}`
}

function readyBy({ by, detail }: JsonObject): string {
  switch (by) {
    case 'log':
      return `a line with ${textOf(detail)}`
    case 'port':
      return `port ${textOf(detail)} accepts connections`
    case 'http':
      return `${textOf(detail)} answers`
    default:
      return `${textOf(detail)} succeeds`
  }
}

function elsewhere({ own }: JsonObject): string {
  return own === false
    ? ' But nothing of its own was seen to listen there: it may be another program that answers.'
    : ''
}

function lastTry({ last }: JsonObject): string {
  return typeof last === 'string' ? ` The last try: ${last}.` : ''
}

function nameOf({ pid }: Told, { name, label }: JsonObject): string {
  const names = [...(typeof name === 'string' ? [name] : []), pid].join(', ')
  return `${textOf(label)} (${names})`
}

function wantedIn({ watch, wanted }: JsonObject): string {
  const text = textOf(wanted)
  return watch === wanted || watch === undefined ? text : `${textOf(watch)} (${text})`
}

function tailOf({ tail }: Told): string {
  return tail === null || tail.trim() === '' ? '' : ` The end of its output:\n${tail.trimEnd()}`
}

function timeOf(at: Json | undefined): string {
  return typeof at === 'number' ? `${new Date(at).toISOString().slice(0, 19)}Z` : 'an unknown time'
}

function seconds(ms: Json | undefined): string {
  return `${Number(ms ?? 0) / 1_000} s`
}

function counted(count: Json | undefined, one: string, many = `${one}s`): string {
  const number = Number(count ?? 0)
  return `${number} ${number === 1 ? one : many}`
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}
