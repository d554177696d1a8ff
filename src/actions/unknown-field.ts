import type * as z from 'zod'
import { nearestName } from '../base/nearest-name.ts'

/** The members of the definitions of zod schemas, of any class, that are used here. */
interface Def {
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly innerType?: z.ZodType
  readonly in?: z.ZodType
  readonly element?: z.ZodType
  readonly options?: readonly z.ZodType[]
  readonly discriminator?: string
  readonly values?: readonly unknown[]
}

type Path = readonly PropertyKey[]
interface Level {
  readonly path: Path
  readonly fields: readonly string[]
}

/** Inputs are flat: deeper members are data of the caller. */
const MAX_DEPTH = 4

/** The message about an unknown field at `path`: where the field belongs, else which one was meant, else which ones exist. */
export function unknownField(type: z.ZodType, given: unknown, path: Path, field: string): string {
  const levels = levelsOf(type, given, [], path)
  const here = levels.find((level) => isSame(level.path, path))?.fields ?? []
  const elsewhere = levels.find((level) => !isSame(level.path, path) && level.fields.includes(field))
  const said = `there is no field ${JSON.stringify(field)} here`
  if (elsewhere !== undefined) return `${said}; ${whereItBelongs(elsewhere.path, path)}`
  const meant = nearestName(field, here)
  if (meant !== undefined) return `${said}; did you mean ${meant}?`
  return here.length === 0 ? said : `${said}, only ${here.join(', ')}`
}

function whereItBelongs(where: Path, from: Path): string {
  if (where.length < from.length) return `it stands beside ${String(from[where.length])}`
  return `it goes into ${where.join('.')}`
}

/** All objects of the schema that apply to this input, outermost first; of a list, only the item that contains the field. */
function levelsOf(type: z.ZodType, given: unknown, path: Path, target: Path): Level[] {
  if (path.length > MAX_DEPTH) return []
  const def = type.def as Def
  if (def.shape !== undefined) {
    const inner = Object.entries(def.shape).flatMap(([field, of]) =>
      levelsOf(of, memberOf(given, field), [...path, field], target),
    )
    return [{ path, fields: Object.keys(def.shape) }, ...inner]
  }
  if (def.options !== undefined)
    return optionsFor(def, given).flatMap((option) => levelsOf(option, given, path, target))
  if (def.element !== undefined) {
    const index = target[path.length]
    if (!Array.isArray(given) || typeof index !== 'number') return []
    return levelsOf(def.element, given[index], [...path, index], target)
  }
  const inside = def.innerType ?? def.in
  return inside === undefined ? [] : levelsOf(inside, given, path, target)
}

/** The options of a union; of a discriminated one, the option that the input chose. */
function optionsFor({ options = [], discriminator }: Def, given: unknown): readonly z.ZodType[] {
  if (discriminator === undefined) return options
  const asked = memberOf(given, discriminator)
  return options.filter((option) => {
    const literal = (option.def as Def).shape?.[discriminator]?.def as Def | undefined
    return literal?.values?.includes(asked) ?? true
  })
}

function memberOf(given: unknown, field: string): unknown {
  return typeof given === 'object' && given !== null ? (given as Record<string, unknown>)[field] : undefined
}

function isSame(one: Path, other: Path): boolean {
  return one.length === other.length && one.every((step, index) => step === other[index])
}
