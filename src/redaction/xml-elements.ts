import { indexWhere, LESS, SLASH } from './characters.ts'
import type { Findings } from './findings.ts'
import { endsLine } from './line-start.ts'
import type { NameBefore } from './name-before.ts'
import { isSecretValue, MAX_JUDGED_BYTES, MAX_VALUE_BYTES } from './secret-value.ts'
import { textOf } from './text-of.ts'

/** Finds the value of `<password>value</password>` and `<property name="password">value</property>`. */
export function findElement(found: Findings, name: NameBefore, at: number): number {
  const { bytes, end } = found
  const isElement = bytes[name.from - 1] === LESS && name.to === at
  if (name.kind === null || !(isElement || isNamedElement(bytes, name))) return at
  const from = at + 1
  const most = Math.min(end, from + MAX_VALUE_BYTES)
  const to = indexWhere(bytes, from, most, (byte) => byte === LESS || endsLine(byte))
  // The end of an element is recognised by two characters.
  if (found.mayContinue(to) || (bytes[to] === LESS && found.mayContinue(to + 1))) found.addTentative(from, to)
  else if (
    bytes[to] === LESS &&
    bytes[to + 1] === SLASH &&
    isSecretValue(name.kind, textOf(bytes, from, Math.min(to, from + MAX_JUDGED_BYTES)), 'quoted')
  )
    found.add(from, to)
  else return at
  return to
}

/** Elements that hold settings. Other named elements hold prose: `<a name="password">`. */
const NAMED_ELEMENT =
  /<(?:\w+:)?(?:property|prop|param|parameter|init-param|entry|setting|env|variable|item|systemproperty)\s[^<>]{0,60}(?:name|key)\s?=\s?["']$/i

function isNamedElement(bytes: Uint8Array, { from, isQuoted }: NameBefore): boolean {
  return isQuoted && NAMED_ELEMENT.test(textOf(bytes, Math.max(0, from - MAX_TAG_BYTES), from))
}

const MAX_TAG_BYTES = 96
