import type { Refusal } from '../refusal.ts'
import { invalidRule } from './invalid-rule.ts'

/** A path with wildcards. It matches segment by segment, so `src` does not cover `src2`. */
export interface PathPattern {
  /** It begins at the root of the file system, not in the workspace. Always false for names. */
  readonly absolute: boolean
  /** `*` stands for one whole segment. */
  readonly segments: readonly string[]
  /** It ends with `**`: it covers that path and everything below. */
  readonly deep: boolean
}

/** The pattern of a path in a file system, normalised. */
export function parseFilePattern(text: string, resource: string): PathPattern | Refusal {
  if (text.startsWith('~'))
    return invalidRule(
      `The resource ${resource} begins with ~, which is not expanded.`,
      'Give the absolute path.',
    )
  if (text.length > 1 && text.endsWith('/'))
    return invalidRule(
      `The resource ${resource} ends with a slash.`,
      `Write ${resource}** for the folder and everything below, or leave the slash out for the folder alone.`,
    )
  const absolute = text.startsWith('/')
  const segments: string[] = []
  for (const segment of text.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.at(-1) === '*' || (segments.length === 0 && !absolute)) return outside(resource)
    else segments.pop()
  }
  return withWildcards(absolute, segments, resource)
}

/** The pattern of a name with parts, such as `<server>/<tool>`. Nothing is normalised: names are compared as they are. */
export function parseNamePattern(text: string, resource: string): PathPattern | Refusal {
  return withWildcards(false, text.split('/'), resource)
}

export function pathPatternText({ absolute, segments, deep }: PathPattern): string {
  const text = `${absolute ? '/' : ''}${[...segments, ...(deep ? ['**'] : [])].join('/')}`
  return text === '' ? '.' : text
}

export function pathCovers(
  pattern: Pick<PathPattern, 'segments' | 'deep'>,
  path: readonly string[],
): boolean {
  const { segments, deep } = pattern
  if (deep ? path.length < segments.length : path.length !== segments.length) return false
  return segments.every((segment, index) => segment === '*' || segment === path[index])
}

/** Whether the pattern covers only paths that the other one covers. */
export function isNarrowerPath(pattern: PathPattern, than: PathPattern): boolean {
  if (pattern.absolute !== than.absolute) return false
  if (pattern.deep && !than.deep) return false
  return pathCovers(than, pattern.segments)
}

function withWildcards(absolute: boolean, parts: readonly string[], resource: string): PathPattern | Refusal {
  const deep = parts.at(-1) === '**'
  const segments = deep ? parts.slice(0, -1) : parts
  const partial = segments.find((segment) => segment.includes('*') && segment !== '*')
  if (partial === '**')
    return invalidRule(
      `The resource ${resource} has ** before its end.`,
      'Use * for one segment, or end with **.',
    )
  if (partial !== undefined)
    return invalidRule(
      `The resource ${resource} has a * within the segment ${partial}; * stands for one whole segment.`,
      'Write the whole name or *; the constraint paths takes globs of files.',
    )
  return { absolute, segments, deep }
}

function outside(resource: string): Refusal {
  return invalidRule(
    `The resource ${resource} leads out of the workspace.`,
    'Give the absolute path, as in fs:/etc/hosts.',
  )
}
