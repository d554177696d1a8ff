import { formsOf } from './covers.ts'
import { globMatches, isAbsoluteGlob } from './glob.ts'
import { hostCovers } from './host-pattern.ts'
import { type Hours, isWithin } from './hours.ts'
import { allOf, type Match, matchIf } from './match.ts'
import type { Need } from './need.ts'

/** When a rule counts, besides its resource. All that are given must hold. A closed list. */
export interface Constraints {
  /** The first arguments, token by token. A list is a choice. */
  readonly args?: readonly (string | readonly string[])[]
  /** Globs of files: `*` within a segment, `**` for any number of segments. */
  readonly paths?: readonly string[]
  /** How large a file may be after a write. */
  readonly maxBytes?: number
  /** Methods of HTTP. */
  readonly methods?: readonly string[]
  /** Host names, or `*.example.com`. */
  readonly hosts?: readonly string[]
  /** The variables that may be set for a program. */
  readonly env?: readonly string[]
  readonly hours?: Hours
  /** The hash of one exact action, as `repeatTexts` describes it: any other action is not covered. */
  readonly action?: string
}

export const CONSTRAINTS = [
  'args',
  'paths',
  'maxBytes',
  'methods',
  'hosts',
  'env',
  'hours',
  'action',
] as const
export type ConstraintName = (typeof CONSTRAINTS)[number]

/** Whether all constraints hold for a need at a time. One about something that is not known of the need is `unknown`. */
export function holds(constraints: Constraints, need: Need, at: number): Match {
  const { attributes } = need
  const { args, paths, maxBytes, methods, hosts, env, hours, action } = constraints
  return allOf([
    args === undefined ? 'yes' : argsBeginWith(args, attributes),
    paths === undefined ? 'yes' : touchesOnly(paths, need),
    maxBytes === undefined ? 'yes' : known(attributes.bytes, (bytes) => bytes <= maxBytes),
    methods === undefined
      ? 'yes'
      : known(attributes.method, (method) => methods.includes(method.toUpperCase())),
    hosts === undefined
      ? 'yes'
      : known(hostOf(need), (host) => hosts.some((pattern) => hostCovers(pattern, host))),
    env === undefined ? 'yes' : known(attributes.env, (names) => names.every((name) => env.includes(name))),
    hours === undefined ? 'yes' : matchIf(isWithin(hours, at)),
    action === undefined ? 'yes' : known(attributes.actions, (hashes) => hashes.includes(action)),
  ])
}

/** After an argument that is not literal nothing is known: it may be several words, or none. */
function argsBeginWith(
  tokens: readonly (string | readonly string[])[],
  { args, unknownOption }: Need['attributes'],
): Match {
  if (tokens.length === 0) return 'yes'
  if (args === undefined || unknownOption === true) return 'unknown'
  for (const [index, token] of tokens.entries()) {
    const arg = args[index]
    if (arg === null) return 'unknown'
    if (arg === undefined || !alternatives(token).includes(arg)) return 'no'
  }
  return 'yes'
}

export function alternatives(token: string | readonly string[]): readonly string[] {
  return typeof token === 'string' ? [token] : token
}

/** Some of several files: `unknown`, so that an ask or a deny of one of them counts. */
function touchesOnly(globs: readonly string[], { resource, attributes }: Need): Match {
  const own = resource.kind === 'fs' ? [resource.path] : []
  const touched = [...own, ...(attributes.paths ?? [])]
  const workspace = resource.kind === 'fs' ? resource.workspace : attributes.workspace
  const matches = new Set(touched.map((path) => pathMatch(globs, path, workspace)))
  const [only] = matches
  return matches.size === 1 && only !== undefined ? only : 'unknown'
}

function pathMatch(globs: readonly string[], path: string | null, workspace: string | undefined): Match {
  const forms = path === null ? null : formsOf(path, workspace)
  if (forms === null) return 'unknown'
  const isMatched = globs.some((glob) => {
    const segments = isAbsoluteGlob(glob) ? forms.absolute : forms.relative
    return segments !== undefined && globMatches(glob, segments)
  })
  return matchIf(isMatched)
}

function hostOf({ resource, attributes }: Need): string | undefined {
  return resource.kind === 'net' ? resource.host : attributes.host
}

function known<Value>(value: Value | undefined, condition: (value: Value) => boolean): Match {
  return value === undefined ? 'unknown' : matchIf(condition(value))
}
