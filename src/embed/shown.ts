import type { Environment } from '../core/environment/environment.ts'
import { ReeveError } from '../core/errors.ts'
import type { Notice } from '../core/inbox/notice.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { maskJson } from '../redaction/mask-json.ts'
import type { Masker } from '../redaction/masker.ts'
import type { Redaction } from '../redaction/redaction.ts'
import { isSecretName } from '../redaction/secret-name.ts'

/**
 * What verbs answer, without secrets. Of commands all is masked: their command line, their variables and input, the reasons
 * and messages of their ends, wherever a record, an event or a notice of theirs is shown. What other processes are given and
 * answer with is data between programs, which need it as it is.
 */
export class Shown {
  readonly #kernel: () => Kernel
  readonly #redaction: Redaction
  /** The secrets that commands were given, null for what is no command; those asked for last, last. */
  readonly #given = new Map<Pid, readonly string[] | null>()

  constructor(kernel: () => Kernel, redaction: Redaction) {
    this.#kernel = kernel
    this.#redaction = redaction
  }

  /** An answer, with every record, event and notice in it as it may be seen. */
  async answer(answer: unknown, depth = 0): Promise<unknown> {
    if (!this.#redaction.isOn || typeof answer !== 'object' || answer === null || depth > MOST_DEPTH)
      return answer
    if (isRecord(answer)) return this.record(answer)
    if (isEventOrNotice(answer)) return this.event(answer)
    if (isEnvironment(answer)) return maskJson(this.#redaction.masker(), answer)
    if (answer instanceof Uint8Array) return answer
    const members = Object.entries(answer)
    let changed: Record<string, unknown> | undefined
    for (const [key, member] of members) {
      if (typeof member !== 'object' || member === null) continue
      const shown = await this.answer(member, depth + 1)
      if (shown === member) continue
      changed ??= (Array.isArray(answer) ? [...answer] : { ...answer }) as Record<string, unknown>
      changed[key] = shown
    }
    return changed ?? answer
  }

  record(record: ProcessRecord): ProcessRecord {
    if (!this.#redaction.isOn) return record
    const given = this.#know(record.pid, record)
    if (given === null) return record
    const masker = this.#redaction.masker(given)
    const shown = Object.entries(record).map(([key, value]) => [
      key,
      PLAIN.has(key) ? value : maskJson(masker, value),
    ])
    return Object.fromEntries(shown) as unknown as ProcessRecord
  }

  async event<Told extends StoredEvent | Notice>(told: Told): Promise<Told> {
    const { payload, pid } = told
    if (!this.#redaction.isOn || typeof payload !== 'object' || payload === null) return told
    const given =
      'type' in told && told.type === 'registered' ? this.#know(pid, payload) : await this.#givenTo(pid)
    const child = await this.#givenToChild(told)
    if (given === null && child === null) return told
    const masker = this.#redaction.masker([...(given ?? []), ...(child ?? [])])
    const masked = {
      payload: maskJson(masker, payload),
      ...(hasText(told) ? { text: masker.text(told.text) } : {}),
    }
    const isSame = masked.payload === payload && (!hasText(told) || masked.text === told.text)
    return isSame ? told : { ...told, ...masked }
  }

  /** An error that says no secret, and is otherwise the same. */
  error(error: unknown): unknown {
    if (!this.#redaction.isOn || !(error instanceof ReeveError)) return error
    return withoutSecrets(this.#redaction.masker(), error)
  }

  text(text: string): string {
    return this.#redaction.isOn ? this.#redaction.masker().text(text) : text
  }

  /** A parent is told the label of its child, which of a command is its command line. */
  async #givenToChild(told: StoredEvent | Notice): Promise<readonly string[] | null> {
    if (!('type' in told) || told.type !== 'child_registered') return null
    const { pid } = told.payload as { readonly pid: Pid }
    return this.#givenTo(pid)
  }

  async #givenTo(pid: Pid): Promise<readonly string[] | null> {
    const known = this.#given.get(pid)
    if (known !== undefined) return known
    const row = await this.#kernel().edges.store.ask({ ask: 'process', pid })
    // Pruned meanwhile: then nobody can tell, and nothing more will be told of it.
    return row === null ? [] : this.#know(pid, row.record)
  }

  #know(pid: Pid, registered: object): readonly string[] | null {
    const { kind, spec } = registered as { readonly kind?: unknown; readonly spec?: unknown }
    const given = kind === 'command' ? secretsOf(spec) : null
    this.#given.delete(pid)
    this.#given.set(pid, given)
    const [oldest] = this.#given.keys()
    if (this.#given.size > MOST_KNOWN && oldest !== undefined) this.#given.delete(oldest)
    return given
  }
}

/** Answers are lists of records at most. */
const MOST_DEPTH = 3
const MOST_KNOWN = 10_000

/** What a record has that is no text of its own: much of it, and looked at often. */
const PLAIN = new Set<string>([
  ...['pid', 'kind', 'parent', 'root', 'restartOf', 'group', 'owner', 'originator', 'lifetime', 'recovery'],
  ...['envRef', 'registrationHash', 'wakeTarget', 'limits', 'status', 'pausedFrom', 'wait', 'signals'],
  ...[
    'firstStarted',
    'program',
    'depth',
    'children',
    'attempts',
    'retryAt',
    'revision',
    'createdAt',
    'updatedAt',
  ],
])

function isRecord(value: object): value is ProcessRecord {
  return 'pid' in value && 'kind' in value && 'spec' in value && 'registrationHash' in value
}

function isEventOrNotice(value: object): value is StoredEvent | Notice {
  return 'pid' in value && 'seq' in value && 'payload' in value
}

/** A notice says in words what it is about. */
function hasText<Told extends object>(told: Told): told is Told & { readonly text: string } {
  return 'text' in told && typeof told.text === 'string'
}

function isEnvironment(value: object): value is Environment {
  return 'variables' in value && 'policy' in value && 'options' in value
}

/** A variable of its own that is called a secret may stand in its command line, too. */
function secretsOf(spec: unknown): string[] {
  const { env } = Object(spec) as { env?: unknown }
  return Object.entries(Object(env) as Record<string, unknown>).flatMap(([name, value]) =>
    typeof value === 'string' && isSecretName(name) ? [value] : [],
  )
}

function withoutSecrets(masker: Masker, error: ReeveError): ReeveError {
  const { message, remedy, details, stack = '' } = error
  const masked = {
    message: masker.text(message),
    remedy: masker.text(remedy),
    details: maskJson(masker, details),
  }
  const isSame = masked.message === message && masked.remedy === remedy && masked.details === details
  return isSame ? error : Object.assign(error, masked, { stack: masker.text(stack) })
}
