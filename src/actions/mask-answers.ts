import { BoundedMap } from '../base/bounded-map.ts'
import type { CommandSecrets } from '../command/environment/command-secrets.ts'
import type { NamedSecrets } from '../command/environment/named-secrets.ts'
import type { Approval } from '../core/approval/approval.ts'
import { ReeveError } from '../core/errors.ts'
import type { Notice } from '../core/inbox/notice.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import { isReserved, type StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { maskJson } from '../redaction/mask-json.ts'
import type { Masker } from '../redaction/masker.ts'
import type { Redaction } from '../redaction/redaction.ts'
import { secretsIn } from '../redaction/secret-name.ts'
import type { AnswerMasking as MaskingMode } from '../verbs/verb.ts'
import {
  hasText,
  isApproval,
  isData,
  isEnvironment,
  isEventOrNotice,
  isNameOfSecret,
  isRecord,
  PLAIN,
} from './answer-parts.ts'

/** The secrets that processes were given. */
interface SecretSources {
  readonly commands: () => CommandSecrets | undefined
  readonly named: Pick<NamedSecrets, 'knownValuesIn'>
}

/** Masks secrets in the answers of verbs: in every record, event and notice, and in errors. */
export class AnswerMasker {
  readonly #kernel: () => Kernel
  readonly #redaction: Redaction
  readonly #sources: SecretSources
  /** The registrations of processes whose answers were masked last. */
  readonly #registered = new BoundedMap<Pid, Registered>(MAX_KNOWN)

  constructor(kernel: () => Kernel, redaction: Redaction, sources: SecretSources) {
    this.#kernel = kernel
    this.#redaction = redaction
    this.#sources = sources
  }

  async answer(answer: unknown, mode: MaskingMode): Promise<unknown> {
    if (!this.#redaction.isOn || mode === 'none') return answer
    const masked = new Map<object, object>()
    await this.#maskIn(answer, mode, masked, 0)
    if (mode === 'all') return maskJson(this.#redaction.masker(), answer, { instead: masked })
    return replaced(answer, masked, 0)
  }

  /** The processes whose secrets are in an answer. */
  async secretsIn(answer: unknown): Promise<ReadonlySet<Pid>> {
    const masked = new Map<object, object>()
    if (this.#redaction.isOn) await this.#maskIn(answer, 'all', masked, 0)
    const pids = [...masked].flatMap(([raw, other]) => (raw === other || !('pid' in raw) ? [] : [raw.pid]))
    return new Set(pids as Pid[])
  }

  async event<Item extends StoredEvent | Notice>(item: Item, mode: MaskingMode = 'all'): Promise<Item> {
    const { payload, pid } = item
    if (!this.#redaction.isOn) return item
    const registered =
      'type' in item && item.type === 'registered' ? this.#know(pid, payload) : await this.#of(pid)
    const hasData = mode === 'values' && registered.kind !== 'command' && 'type' in item
    if (hasData && (!isReserved(item.type) || item.type.startsWith('signal.'))) return item
    const values = [registered, ...(await this.#childIn(item))].map((one) => this.#valuesOf(one))
    const edited = 'type' in item && item.type === 'approval_settled' ? (Object(payload).spec ?? null) : null
    const masker = this.#redaction.masker([
      ...(await Promise.all(values)).flat(),
      ...variableSecretsIn(edited),
    ])
    const masked = {
      payload: maskJson(masker, payload, hasData ? { leave: (member, _, of) => isData(member, of) } : {}),
      ...(hasText(item) ? { text: masker.text(item.text) } : {}),
      ...('replyTo' in item ? { replyTo: maskJson(masker, item.replyTo) } : {}),
    }
    const isSame =
      masked.payload === payload &&
      (!hasText(item) || masked.text === item.text) &&
      (!('replyTo' in item) || masked.replyTo === item.replyTo)
    return isSame ? item : { ...item, ...masked }
  }

  /** The same error without secrets. */
  async error(error: unknown): Promise<unknown> {
    if (!this.#redaction.isOn || !(error instanceof ReeveError)) return error
    const pids = [...new Set(error.message.match(PIDS) ?? [])].slice(0, MAX_NAMED)
    const named = await Promise.all(pids.map((pid) => this.#ofNamed(pid)))
    return withoutSecrets(this.#redaction.masker(named.flat()), error)
  }

  text(text: string): string {
    return this.#redaction.isOn ? this.#redaction.masker().text(text) : text
  }

  /** Adds the masked form of every record, event, notice and environment in `value` to `masked`. */
  async #maskIn(
    value: unknown,
    mode: MaskingMode,
    masked: Map<object, object>,
    depth: number,
  ): Promise<void> {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
    if (value instanceof Uint8Array) return
    if (isRecord(value)) masked.set(value, await this.#record(value, mode))
    else if (isApproval(value)) masked.set(value, await this.#approval(value))
    else if (isEventOrNotice(value)) masked.set(value, await this.event(value, mode))
    else if (isEnvironment(value))
      masked.set(value, maskJson(this.#redaction.masker(), value, { leave: isNameOfSecret }))
    else
      for (const member of Object.values(value))
        if (typeof member === 'object') await this.#maskIn(member, mode, masked, depth + 1)
  }

  async #record(record: ProcessRecord, mode: MaskingMode): Promise<ProcessRecord> {
    const registered = this.#know(record.pid, record)
    const given = await this.#valuesOf(registered)
    const { effectiveSpec } = record
    const masker = this.#redaction.masker(
      effectiveSpec === null ? given : [...given, ...variableSecretsIn(effectiveSpec)],
    )
    const hasData = mode === 'values' && registered.kind !== 'command'
    const leave = hasData ? (member: string, _: number, of: object) => isData(member, of) : () => false
    let changed: Record<string, unknown> | undefined
    // Without a list of entries: nearly every answer has a record, and nearly every member is skipped.
    for (const member in record) {
      const value = record[member as keyof ProcessRecord]
      if (value === null || PLAIN.has(member) || (hasData && isData(member, record))) continue
      const masked = maskJson(masker, value, { leave })
      if (masked === value) continue
      changed ??= { ...record }
      changed[member] = masked
    }
    return (changed as ProcessRecord | undefined) ?? record
  }

  /** A request shows the command line and the variables of its process. */
  async #approval(approval: Approval): Promise<Approval> {
    const values = await this.#valuesOf(await this.#of(approval.pid))
    const edited = approval.answer?.type === 'approved' ? approval.answer.spec : null
    return maskJson(this.#redaction.masker([...values, ...variableSecretsIn(edited)]), approval)
  }

  /** The event of a parent has the label of its child, which for a command is its command line. */
  async #childIn(item: StoredEvent | Notice): Promise<Registered[]> {
    if (!('type' in item) || item.type !== 'child_registered') return []
    const { pid } = item.payload as { readonly pid: Pid }
    return [await this.#of(pid)]
  }

  async #of(pid: Pid): Promise<Registered> {
    const known = this.#registered.get(pid)
    if (known !== undefined) return known
    const row = await this.#kernel().edges.store.ask({ ask: 'process', pid })
    // Pruned meanwhile: its secrets are unknown, and no further answer will include it.
    return row === null ? { ...GONE, pid } : this.#know(pid, row.record)
  }

  /** A closing kernel or an unavailable store knows no values; the error is probably about that. */
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
            kind,
            pid,
            originator,
            registrationHash,
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

  /** For a command, the values that are masked in its output. Else the secrets of its environment and variables. */
  async #valuesOf(registered: Registered): Promise<readonly string[]> {
    const commands = registered.kind === 'command' ? this.#sources.commands() : undefined
    if (commands !== undefined) return commands.valuesOf(registered, this.#kernel(), LEARN_MS)
    const { env } = registered.spec as { readonly env?: Readonly<Record<string, string>> }
    const named = await this.#sources.named.knownValuesIn(registered.envRef, this.#kernel())
    return env === undefined ? named : [...named, ...secretsIn(env)]
  }
}

type Registered = Parameters<CommandSecrets['valuesOf']>[0] & { readonly kind: string | null }

/** A process that is gone, or that was given an environment alone. */
const GONE: Omit<Registered, 'pid'> = {
  kind: null,
  originator: 'host',
  registrationHash: '',
  spec: {},
  envRef: null,
}

/** The deepest answers are lists of records. */
const MAX_DEPTH = 3
const MAX_KNOWN = 1_000
const PIDS = /\bp_[0-9a-hjkmnp-tv-z]{12}\b/g
/** How long an answer waits for the variables of the login shell. */
const LEARN_MS = 500
/** An error names one process, or two. */
const MAX_NAMED = 4

/** The variables of an edited spec whose names mean a secret. */
function variableSecretsIn(spec: JsonObject | null): readonly string[] {
  const { env } = Object(spec) as { readonly env?: Readonly<Record<string, string>> }
  return secretsIn(env ?? {})
}

/** A copy of `value` in which `instead` replaces objects. */
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
