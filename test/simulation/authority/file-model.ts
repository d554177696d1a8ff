import type { Rule } from '../../../src/core/capability/rule.ts'
import type { ModelRule, ModelSet } from './rule-model.ts'

/** One content of a policy file. */
export interface ModelVersion {
  readonly hash: string
  readonly rules: readonly Rule[]
}

interface FileState {
  readonly present: ModelVersion
  /** The version that a person trusted last, and has not stopped trusting. */
  readonly trusted: ModelVersion | null
  /** The asks and denies of the versions after it, or of all earlier ones. */
  readonly held: readonly Rule[]
  /** A version that a person trusted, and no longer trusts, had closed the set. */
  readonly staysClosed: boolean
}

/** What policy files mean, as the documentation says it: a file only tightens by itself, until a person trusts it. */
export class FileModel {
  /** Every version of a file that was loaded, as `subject hash`. */
  readonly loaded = new Set<string>()
  readonly #versionOf: (hash: string) => ModelVersion
  readonly #files = new Map<string, FileState>()

  constructor(versionOf: (hash: string) => ModelVersion) {
    this.#versionOf = versionOf
  }

  load(subject: string, hash: string): void {
    this.loaded.add(`${subject} ${hash}`)
    const present = this.#versionOf(hash)
    const was = this.#files.get(subject)
    const { trusted = null, staysClosed = false } = was ?? {}
    const isTrusted = trusted !== null && (trusted.hash === hash || trusted.hash === was?.present.hash)
    const held = was === undefined || isTrusted ? [] : heldAfter(was)
    this.#files.set(subject, { present, trusted, held, staysClosed })
  }

  trust(subject: string, hash: string): void {
    const present = this.#versionOf(hash)
    this.loaded.add(`${subject} ${hash}`)
    this.#files.set(subject, { present, trusted: present, held: [], staysClosed: false })
  }

  untrust(subject: string): void {
    const was = this.#files.get(subject)
    if (was === undefined) return
    const { trusted, present } = was
    const held = isPresentTrusted(was) ? [] : [...(trusted?.rules ?? []), ...was.held]
    const staysClosed = was.staysClosed || trusted?.rules.some(closes) === true
    this.#files.set(subject, { present, trusted: null, held: held.filter(limits).map(plain), staysClosed })
  }

  forget(subject: string): void {
    this.#files.delete(subject)
  }

  /** The sets that a file stands for: its present version, and what earlier ones leave. */
  setsOf(subject: string): readonly ModelSet[] {
    const file = this.#files.get(subject)
    if (file === undefined) return []
    const { present, trusted, held, staysClosed } = file
    const isTrusted = isPresentTrusted(file)
    const own = setOf(subject, present.rules, present.rules.some(closes), isTrusted)
    if (isTrusted) return [own]
    const kept = [...(trusted?.rules ?? []), ...held]
    const isClosed = staysClosed || trusted?.rules.some(closes) === true
    if (kept.length === 0 && !isClosed) return [own]
    return [own, setOf(keptOf(subject), kept, isClosed, trusted !== null || staysClosed)]
  }
}

function isPresentTrusted({ present, trusted }: FileState): boolean {
  return trusted !== null && trusted.hash === present.hash
}

/** What is held back of the present version, too, when another one comes. */
function heldAfter({ present, trusted, held }: FileState): readonly Rule[] {
  const kept = [...(trusted?.rules ?? []), ...held]
  const known = kept.map(contentOf)
  const added = present.rules
    .filter(limits)
    .map(plain)
    .filter((rule) => !known.includes(contentOf(rule)))
  const ids = kept.map(({ id }) => id)
  // A rule keeps its id, unless an earlier version had another rule of that id.
  for (const rule of added) ids.push(nameAmong(ids, rule.id))
  return [...held, ...added.map((rule, index) => ({ ...rule, id: ids[kept.length + index] ?? rule.id }))]
}

function nameAmong(ids: readonly string[], id: string): string {
  const numbered = [id, ...ids.map((_, index) => `${id}.${index + 2}`)]
  return numbered.find((one) => !ids.includes(one)) ?? id
}

function setOf(subject: string, rules: readonly Rule[], closed: boolean, trusted: boolean): ModelSet {
  return { subject, rules: rules.map((rule) => asRule(subject, rule)), closed, trusted }
}

function keptOf(subject: string): string {
  return `kept:${subject.slice('file:'.length)}`
}

/** Another text is another rule, also under the same id. */
function asRule(subject: string, rule: Rule): ModelRule {
  return { ...rule, instance: `${subject} ${rule.id} ${contentOf(rule)}`, links: [] }
}

function contentOf({ id: _, ...content }: Rule): string {
  return JSON.stringify(content)
}

function limits({ effect }: Rule): boolean {
  return effect !== 'allow'
}

/** An untrusted rule chooses no reviewer. */
function plain({ reviewer: _, ...rule }: Rule): Rule {
  return rule
}

function closes({ effect }: Rule): boolean {
  return effect === 'allow'
}
