import { BoundedMap } from '../base/bounded-map.ts'
import type { AuditEntry } from '../core/audit/entry.ts'
import { sameJson } from '../core/json/canonical.ts'
import { type JsonObject, objectOf } from '../core/json/json.ts'
import { maskJson } from '../redaction/mask-json.ts'
import type { Masker } from '../redaction/masker.ts'
import type { Redaction } from '../redaction/redaction.ts'
import { secretsIn } from '../redaction/secret-name.ts'
import type { MaskEntry } from '../store/masked-audit.ts'

/** Masks the secrets in the texts of an entry: the known ones, those in the variables of its specs, and what looks like one. */
export function auditMasking(redaction: Redaction): MaskEntry {
  const texts = new MaskedTexts(redaction.masker())
  return (entry, about) => {
    if (!redaction.isOn) return entry
    const values = secretsOf(about)
    const known = redaction.masker(values)
    const masker = values.length === 0 ? texts.of(known) : known
    const { at, actor, action, target, decision, rule, reason, inputs, trace } = entry
    // Every allowed registration takes this path: a spread costs more than the members.
    return {
      at,
      actor,
      action,
      // A pid is no secret, and no other entry has the same one.
      target: target.startsWith('process:') ? target : masker.text(target),
      decision,
      rule: rule === null ? null : maskedRule(rule, masker.text(rule.text)),
      reason: reason === null ? null : masker.text(reason),
      inputs: masker === texts ? texts.inputs(inputs) : maskJson(masker, inputs),
      trace,
    }
  }
}

/** The same object while nothing is masked: the audit stores equal members of one commit once. */
function maskedRule(rule: NonNullable<AuditEntry['rule']>, text: string): NonNullable<AuditEntry['rule']> {
  return text === rule.text ? rule : { ...rule, text }
}

const NO_SECRETS: readonly string[] = []

function secretsOf(about: readonly JsonObject[]): readonly string[] {
  if (about.every((spec) => spec['env'] === undefined)) return NO_SECRETS
  return about.flatMap((spec) => secretsIn(textsIn(objectOf(spec['env']))))
}

const MAX_TEXTS = 2_000
const MAX_TEXT_CHARS = 200
const MAX_INPUTS = 500
const MAX_INPUTS_CHARS = 1_000

/**
 * The short texts and inputs that were masked last: rules, needs and names of members are the same in most entries, and so are the
 * inputs of a tool that is called often. An entry is made in the transaction of its action.
 */
class MaskedTexts implements Pick<Masker, 'text'> {
  readonly #texts = new BoundedMap<string, string>(MAX_TEXTS)
  /** By their JSON. */
  readonly #inputs = new BoundedMap<string, JsonObject>(MAX_INPUTS)
  #last: { readonly inputs: JsonObject; readonly masked: JsonObject } | undefined
  #masker: Masker

  constructor(masker: Masker) {
    this.#masker = masker
  }

  /** The same masking as that of `masker`, which is another one when more secrets are known. */
  of(masker: Masker): this {
    if (masker === this.#masker) return this
    this.#texts.clear()
    this.#inputs.clear()
    this.#last = undefined
    this.#masker = masker
    return this
  }

  text(...[text, options]: Parameters<Masker['text']>): string {
    if (options !== undefined || text.length > MAX_TEXT_CHARS) return this.#masker.text(text, options)
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    const masked = this.#masker.text(text)
    this.#texts.set(text, masked)
    return masked
  }

  inputs(inputs: JsonObject): JsonObject {
    // Found without a text if a tool is called again and again.
    if (this.#last !== undefined && sameJson(this.#last.inputs, inputs)) return this.#last.masked
    const masked = this.#maskedInputs(inputs)
    this.#last = { inputs, masked }
    return masked
  }

  #maskedInputs(inputs: JsonObject): JsonObject {
    const text = JSON.stringify(inputs)
    const known = this.#inputs.get(text)
    if (known !== undefined) return known
    const masked = maskJson(this, inputs)
    if (text.length <= MAX_INPUTS_CHARS) this.#inputs.set(text, masked)
    return masked
  }
}

function textsIn(variables: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}
