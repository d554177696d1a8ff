import { BoundedMap } from '../base/bounded-map.ts'
import type { CommandSecrets, NamedSecrets } from '../command/command-secrets.ts'
import type { Environment } from '../core/environment/environment.ts'
import { ReeveError } from '../core/errors.ts'
import type { Notice } from '../core/inbox/notice.ts'
import type { Json } from '../core/json/json.ts'
import { isReserved, type StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { maskJson } from '../redaction/mask-json.ts'
import type { Masker } from '../redaction/masker.ts'
import type { Redaction } from '../redaction/redaction.ts'
import { secretsIn } from '../redaction/secret-name.ts'

/**
 * How much of an answer is masked.
 *
 * | mode   | of commands | of other processes                                        | anything else |
 * | all      | everything  | everything                                                | everything    |
 * | values   | everything  | all but what programs hand to each other: inputs, results, signals | nothing  |
 * | records  | everything  | everything                                                | nothing       |
 * | none     | nothing     | nothing                                                   | nothing       |
 */
export type MaskingMode = 'all' | 'values' | 'records' | 'none'

/** What processes were given that is secret. */
interface SecretSources {
  readonly commands: () => CommandSecrets | undefined
  readonly named: Pick<NamedSecrets, 'knownValuesIn'>
}

/**
 * What verbs answer, without secrets: command lines, variables and input, the reasons and messages of ends, wherever a record,
 * an event or a notice is shown.
 */
export class AnswerMasker {
  readonly #kernel: () => Kernel
  readonly #redaction: Redaction
  readonly #sources: SecretSources
  /** What is known of processes, as they were registered; those asked for last, last. */
  readonly #registered = new BoundedMap<Pid, Registered>(MAX_KNOWN)

  constructor(kernel: () => Kernel, redaction: Redaction, sources: SecretSources) {
    this.#kernel = kernel
    this.#redaction = redaction
    this.#sources = sources
  }

  /** An answer, with every record, event and notice in it as it may be seen. */
  async answer(answer: unknown, mode: MaskingMode): Promise<unknown> {
    if (!this.#redaction.isOn || mode === 'none') return answer
    const shown = new Map<object, object>()
    await this.#showIn(answer, mode, shown, 0)
    if (mode === 'all') return maskJson(this.#redaction.masker(), answer, { instead: shown })
    return replaced(answer, shown, 0)
  }

  /** The processes whose secrets are in an answer. */
  async secretsIn(answer: unknown): Promise<ReadonlySet<Pid>> {
    const shown = new Map<object, object>()
    if (this.#redaction.isOn) await this.#showIn(answer, 'all', shown, 0)
    const pids = [...shown].flatMap(([raw, other]) => (raw === other || !('pid' in raw) ? [] : [raw.pid]))
    return new Set(pids as Pid[])
  }

  async event<Told extends StoredEvent | Notice>(told: Told, mode: MaskingMode = 'all'): Promise<Told> {
    const { payload, pid } = told
    if (!this.#redaction.isOn) return told
    const registered =
      'type' in told && told.type === 'registered' ? this.#know(pid, payload) : await this.#of(pid)
    const isData = mode === 'values' && registered.kind !== 'command' && 'type' in told
    if (isData && (!isReserved(told.type) || told.type.startsWith('signal.'))) return told
    const values = [registered, ...(await this.#childIn(told))].map((one) => this.#valuesOf(one))
    const masker = this.#redaction.masker((await Promise.all(values)).flat())
    const masked = {
      payload: maskJson(masker, payload, isData ? { leave: (member, _, of) => isHandedOn(member, of) } : {}),
      ...(hasText(told) ? { text: masker.text(told.text) } : {}),
      ...('replyTo' in told ? { replyTo: maskJson(masker, told.replyTo) } : {}),
    }
    const isSame =
      masked.payload === payload &&
      (!hasText(told) || masked.text === told.text) &&
      (!('replyTo' in told) || masked.replyTo === told.replyTo)
    return isSame ? told : { ...told, ...masked }
  }

  /** An error that says no secret, and is otherwise the same. */
  async error(error: unknown): Promise<unknown> {
    if (!this.#redaction.isOn || !(error instanceof ReeveError)) return error
    const pids = [...new Set(error.message.match(PIDS) ?? [])].slice(0, MAX_NAMED)
    const named = await Promise.all(pids.map((pid) => this.#ofNamed(pid)))
    return withoutSecrets(this.#redaction.masker(named.flat()), error)
  }

  text(text: string): string {
    return this.#redaction.isOn ? this.#redaction.masker().text(text) : text
  }

  async #showIn(value: unknown, mode: MaskingMode, shown: Map<object, object>, depth: number): Promise<void> {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
    if (value instanceof Uint8Array) return
    if (isRecord(value)) shown.set(value, await this.#record(value, mode))
    else if (isEventOrNotice(value)) shown.set(value, await this.event(value, mode))
    else if (isEnvironment(value))
      shown.set(value, maskJson(this.#redaction.masker(), value, { leave: isNameOfSecret }))
    else
      for (const member of Object.values(value))
        if (typeof member === 'object') await this.#showIn(member, mode, shown, depth + 1)
  }

  async #record(record: ProcessRecord, mode: MaskingMode): Promise<ProcessRecord> {
    const registered = this.#know(record.pid, record)
    const masker = this.#redaction.masker(await this.#valuesOf(registered))
    const isData = mode === 'values' && registered.kind !== 'command'
    const leave = isData ? (member: string, _: number, of: object) => isHandedOn(member, of) : () => false
    let changed: Record<string, unknown> | undefined
    for (const [member, value] of Object.entries(record)) {
      if (value === null || PLAIN.has(member) || (isData && isHandedOn(member, record))) continue
      const shown = maskJson(masker, value, { leave })
      if (shown === value) continue
      changed ??= { ...record }
      changed[member] = shown
    }
    return (changed as ProcessRecord | undefined) ?? record
  }

  /** A parent is told the label of its child, which of a command is its command line. */
  async #childIn(told: StoredEvent | Notice): Promise<Registered[]> {
    if (!('type' in told) || told.type !== 'child_registered') return []
    const { pid } = told.payload as { readonly pid: Pid }
    return [await this.#of(pid)]
  }

  async #of(pid: Pid): Promise<Registered> {
    const known = this.#registered.get(pid)
    if (known !== undefined) return known
    const row = await this.#kernel().edges.store.ask({ ask: 'process', pid })
    // Pruned meanwhile: then nobody can tell, and nothing more will be told of it.
    return row === null ? { ...GONE, pid } : this.#know(pid, row.record)
  }

  /** A kernel that is being closed, or a store that is away, is what the error is about. */
  async #ofNamed(pid: Pid): Promise<readonly string[]> {
    try {
      return await this.#valuesOf(await this.#of(pid))
    } catch {
      return []
    }
  }

  #know(pid: Pid, given: unknown): Registered {
    const {
      kind,
      originator = 'host',
      registrationHash = '',
      spec,
      envRef = null,
    } = Object(given) as Partial<Registered>
    const { env, passEnv, inheritEnv } = Object(spec) as Readonly<Partial<Record<string, Json>>>
    const registered: Registered =
      kind === 'command'
        ? {
            ...{ kind, pid, originator, registrationHash },
            spec: {
              ...(env === undefined ? {} : { env }),
              ...(passEnv === undefined ? {} : { passEnv }),
              ...(inheritEnv === undefined ? {} : { inheritEnv }),
            },
            envRef,
          }
        : { ...GONE, pid, envRef }
    this.#registered.set(pid, registered)
    return registered
  }

  /** Of commands the same as in their output. Where none are run, and of others, those of its environment and variables. */
  async #valuesOf(registered: Registered): Promise<readonly string[]> {
    const commands = registered.kind === 'command' ? this.#sources.commands() : undefined
    if (commands !== undefined) return commands.valuesOf(registered, this.#kernel(), LEARN_MS)
    const { env } = registered.spec as { readonly env?: Readonly<Record<string, string>> }
    const named = await this.#sources.named.knownValuesIn(registered.envRef, this.#kernel())
    return [...named, ...secretsIn(env ?? {})]
  }
}

type Registered = Parameters<CommandSecrets['valuesOf']>[0] & { readonly kind: string | null }

/** Nothing is known of it, or it was given nothing but an environment. */
const GONE: Omit<Registered, 'pid'> = {
  ...{ kind: null, originator: 'host', registrationHash: '', spec: {}, envRef: null },
}

/** Answers are lists of records at most. */
const MAX_DEPTH = 3
const MAX_KNOWN = 1_000
const PIDS = /\bp_[0-9a-hjkmnp-tv-z]{12}\b/g
/** How long an answer waits for the login shell to say what it has. */
const LEARN_MS = 500
/** An error names one process, or two. */
const MAX_NAMED = 4

/** What a record has that is no text of its own: much of it, and looked at often. What is not named here is masked. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['pid', 'kind', 'parent', 'root', 'restartOf', 'group', 'owner', 'originator', 'lifetime', 'recovery'],
  'placement',
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
    'parked',
    'awaitedBy',
  ],
])

/** What one program hands to another, which needs it as it is. */
const DATA: ReadonlySet<string> = new Set([
  ...['spec', 'result', 'value', 'definition', 'replyTo', 'causedBy', 'externalRef', 'ref', 'facets'],
])

/** What came out of a failure are messages. */
function isHandedOn(member: string, of: object): boolean {
  if (member === 'result' && 'status' in of && of.status !== 'completed') return false
  return DATA.has(member)
}

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

/** `variables.X.secret` says which secret is meant, and nothing of its value. */
function isNameOfSecret(member: string, depth: number): boolean {
  return member === 'secret' && depth === 2
}

/** The same with other objects in the place of these. */
function replaced(value: unknown, instead: ReadonlyMap<object, object>, depth: number): unknown {
  if (instead.size === 0 || typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value
  const other = instead.get(value)
  if (other !== undefined || value instanceof Uint8Array) return other ?? value
  const members = Object.entries(value).map(([key, member]) => [key, replaced(member, instead, depth + 1)])
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)
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
