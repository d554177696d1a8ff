import {
  APICallError,
  InvalidArgumentError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  LoadAPIKeyError,
  LoadSettingError,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider'
import { messageOf } from '../../base/error-text.ts'
import { isObject } from '../../base/is-object.ts'
import type { CallFailure, FailureKind } from '../../core/model/answer.ts'
import { nearestModels } from '../../core/model/facts.ts'
import { modelIdOf } from '../../core/model/model-id.ts'
import type { ModelName } from '../../core/model/prompt.ts'
import { AnswerTooLarge } from '../answer-builder.ts'
import { kindOfStatus } from '../kind-of-status.ts'
import { REMEDIES } from '../remedies.ts'
import { retryAfterMs } from './retry-after.ts'

/** The kind of a provider's error. */
export type Trouble =
  | { readonly type: 'failed'; readonly failure: CallFailure }
  | { readonly type: 'overflow'; readonly message: string }

/** Messages of providers may quote whole requests. */
const MAX_MESSAGE_CHARS = 1_000

/** Classifies everything that a provider of the AI SDK throws or sends as an error, by type and status first, by words last. */
export function troubleOf(
  error: unknown,
  name: ModelName,
  { now, key }: { readonly now: number; readonly key: string | undefined },
): Trouble {
  const facts = factsOf(error)
  // Some providers quote the key that they reject.
  const shown = key === undefined || key === '' ? facts.message : facts.message.replaceAll(key, '***')
  const message = `${modelIdOf(name)}: ${short(shown)}`
  if (isOverflow(facts)) return { type: 'overflow', message }
  const kind = kindOf(error, facts)
  const wait = retryAfterMs(facts.headers, now)
  const failure: CallFailure = {
    kind,
    message,
    remedy: remedyOf(kind, name, shown),
    ...(facts.status !== undefined && facts.status !== 200 && { status: facts.status }),
    ...(wait !== undefined && { retryAfterMs: wait }),
  }
  return { type: 'failed', failure }
}

function remedyOf(kind: FailureKind, name: ModelName, message: string): string {
  if (kind === 'model_unknown')
    return `${REMEDIES[kind]} Known: ${nearestModels(modelIdOf(name)).join(', ')}.`
  const variable = kind === 'key_missing' ? VARIABLE.exec(message)?.groups?.['name'] : undefined
  if (variable === undefined) return REMEDIES[kind]
  return `Set ${variable} in the environment of the program, or pass the key to the provider that makes the model.`
}

/** The AI SDK names the variable of a missing key in its message alone. */
const VARIABLE = /\b(?<name>[A-Z][A-Z\d_]+) environment variable/

interface ErrorFacts {
  readonly status: number | undefined
  /** The provider's words for the kind of error. */
  readonly words: string
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
}

function factsOf(error: unknown): ErrorFacts {
  if (APICallError.isInstance(error)) {
    const status = error.statusCode
    const details = isObject(error.data) ? wordsIn(error.data['error'] ?? error.data) : ''
    const message = [error.message || `HTTP status ${status}`, messageOfCause(error)]
      .filter(Boolean)
      .join(': ')
    const words = `${details} ${error.responseBody?.slice(0, MAX_MESSAGE_CHARS) ?? ''}`
    return { status, words, message, headers: error.responseHeaders ?? {} }
  }
  if (isObject(error)) {
    const status = numberIn(error['statusCode']) ?? numberIn(error['code'])
    const message = typeof error['message'] === 'string' ? error['message'] : 'an error without a message'
    return {
      status,
      words: wordsIn(error),
      message: [message, messageOfCause(error)].filter(Boolean).join(': '),
      headers: {},
    }
  }
  return { status: undefined, words: '', message: messageOf(error), headers: {} }
}

function kindOf(error: unknown, { status, words, message }: ErrorFacts): FailureKind {
  if (causesOf(error).some((cause) => cause instanceof AnswerTooLarge)) return 'answer_too_large'
  if (LoadAPIKeyError.isInstance(error) || LoadSettingError.isInstance(error)) return 'key_missing'
  if (/insufficient_quota|billing|credit balance/i.test(words)) return 'quota_exhausted'
  const byStatus = status === undefined ? undefined : kindOfStatus(status)
  if (byStatus !== undefined) return byStatus
  const byWords = kindOfWords(words)
  if (byWords !== undefined) return byWords
  if (InvalidPromptError.isInstance(error) || InvalidArgumentError.isInstance(error)) return 'invalid_request'
  if (UnsupportedFunctionalityError.isInstance(error)) return 'invalid_request'
  if (causesOf(error).some(isNetworkError)) return 'network'
  const isGarbage = [JSONParseError, TypeValidationError, InvalidResponseDataError].some((kind) =>
    kind.isInstance(error),
  )
  if (isGarbage || /Expected a normalized|Unsupported chunk type/.test(message)) return 'invalid_answer'
  if (!APICallError.isInstance(error)) return 'internal'
  // No answer at all, or a broken body of a good one: the cause is in the words of the socket.
  const isUnreadable = error.statusCode === undefined || !causesOf(error).some(isSyntaxError)
  return isUnreadable ? 'network' : 'invalid_answer'
}

/** Errors inside of a stream have no status. */
function kindOfWords(words: string): FailureKind | undefined {
  if (/rate_limit|too_many_requests/i.test(words)) return 'rate_limited'
  if (/overloaded/i.test(words)) return 'overloaded'
  if (/server_error|api_error|internal_error/i.test(words)) return 'server_error'
  if (/authentication|invalid_api_key/i.test(words)) return 'key_rejected'
  if (/model_not_found/i.test(words)) return 'model_unknown'
  return /invalid_request/i.test(words) ? 'invalid_request' : undefined
}

/** Servers have no common code for it: these are the words of Anthropic, OpenAI, Google, vLLM, llama.cpp, LM Studio and others. */
const OVERFLOW =
  /context_length_exceeded|prompt is too long|maximum context length|exceeds? the (available )?(model'?s? )?(maximum )?context|exceeds? (the )?context (window|limit|size|length)|input token count .{0,40}exceeds|exceed context limit|context window|request_too_large/i

function isOverflow({ status, words, message }: ErrorFacts): boolean {
  if (status === 413) return true
  const mayBe = status === undefined || status === 400 || status === 422 || status === 500
  return mayBe && OVERFLOW.test(`${words} ${message}`)
}

function wordsIn(value: unknown): string {
  if (!isObject(value)) return ''
  const nested = isObject(value['error']) ? wordsIn(value['error']) : ''
  return `${['type', 'code', 'message', 'status'].map((name) => text(value[name])).join(' ')} ${nested}`
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 300 && value < 600 ? value : undefined
}

function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (
    /^(E[A-Z]+|UND_ERR_\w+|CERT_\w+|ERR_(TLS|SSL)\w*)$/.test(code) ||
    /^(fetch failed|terminated|other side closed)$/.test(error.message)
  )
}

function isSyntaxError(error: unknown): boolean {
  return error instanceof SyntaxError || JSONParseError.isInstance(error)
}

function messageOfCause(error: unknown): string {
  const [, ...causes] = causesOf(error)
  const last = causes.at(-1)
  const said = last === undefined ? '' : messageOf(last)
  return error instanceof Error && error.message.includes(said) ? '' : said
}

/** The error and its causes, the outermost first. */
function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = []
  for (let cause = error; cause !== undefined && cause !== null && causes.length < MAX_CAUSES; ) {
    causes.push(cause)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return causes
}

const MAX_CAUSES = 8

function short(message: string): string {
  const line = message.toWellFormed().replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_MESSAGE_CHARS ? `${line.slice(0, MAX_MESSAGE_CHARS)}…` : line
}
