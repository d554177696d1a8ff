import { hostCovers } from './host-pattern.ts'
import { allOf, type Match, matchIf } from './match.ts'
import type { ConcreteResource, Program } from './need.ts'
import { type PathPattern, pathCovers } from './path-pattern.ts'
import type { ProgramPattern, ResourcePattern } from './resource.ts'

/** Whether a pattern covers a resource. */
export function covers(pattern: ResourcePattern, resource: ConcreteResource): Match {
  switch (resource.kind) {
    case 'fs':
      return pattern.kind === 'fs' ? fileCovers(pattern.path, resource.path, resource.workspace) : 'no'
    case 'shell':
      return pattern.kind === 'shell'
        ? programCovers(pattern.program, resource.program, resource.workspace)
        : 'no'
    case 'net': {
      if (pattern.kind !== 'net') return 'no'
      const { port } = resource
      const isPort =
        pattern.port === null ? 'yes' : port === undefined ? 'unknown' : matchIf(pattern.port === port)
      return allOf([matchIf(hostCovers(pattern.host, resource.host)), isPort])
    }
    case 'process':
      if (pattern.kind !== 'process') return 'no'
      return matchIf(
        pattern.pid === '*' ||
          pattern.pid === resource.pid ||
          (pattern.tree && resource.ancestors.includes(pattern.pid)),
      )
    default:
      return pattern.kind === resource.kind
        ? matchIf(pathCovers(pattern.path, resource.path.split('/')))
        : 'no'
  }
}

/**
 * The segments of a path in each form that a rule may have: relative to the workspace, and absolute. Null if it was not
 * normalised, so that it may be anywhere.
 */
export function formsOf(
  path: string,
  workspace?: string,
): { readonly relative?: readonly string[]; readonly absolute?: readonly string[] } | null {
  const segments = segmentsOf(path)
  if (segments.includes('..')) return null
  const root = workspace === undefined ? undefined : segmentsOf(workspace)
  if (!path.startsWith('/'))
    return { relative: segments, ...(root === undefined ? {} : { absolute: [...root, ...segments] }) }
  const isInside = root?.every((segment, index) => segment === segments[index]) === true
  return { absolute: segments, ...(isInside && root ? { relative: segments.slice(root.length) } : {}) }
}

export function lastSegmentOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Whether a pattern covers a file. The pattern `/**` covers all files, also those of a workspace whose root is not known. */
function fileCovers(pattern: PathPattern, path: string | null, workspace: string | undefined): Match {
  if (pattern.absolute && pattern.deep && pattern.segments.length === 0) return 'yes'
  if (path === null) return 'unknown'
  const forms = formsOf(path, workspace)
  if (forms === null) return 'unknown'
  const segments = pattern.absolute ? forms.absolute : forms.relative
  return matchIf(segments !== undefined && pathCovers(pattern, segments))
}

/**
 * A name covers a program that was written as that name. A path that ends with it may be any file, such as `./git`; an ask or a
 * deny counts for it, an allow does not. The same is true of another name for a file of that name, such as a symbolic link.
 */
function programCovers(pattern: ProgramPattern, program: Program, workspace: string | undefined): Match {
  const { name, path, real } = program
  switch (pattern.type) {
    case 'any':
      return 'yes'
    case 'name': {
      const isNamed = (found: string) => pattern.name === '*' || pattern.name === found
      if (path === undefined && isNamed(name)) return 'yes'
      const others = [name, path, real].filter((other) => other !== undefined)
      return others.some((other) => isNamed(lastSegmentOf(other))) ? 'unknown' : 'no'
    }
    case 'file': {
      const files = [path, real].filter((file) => file !== undefined)
      if (files.some((file) => fileCovers(pattern.path, file, workspace) === 'yes')) return 'yes'
      if (files.some((file) => fileCovers(pattern.path, file, workspace) === 'unknown')) return 'unknown'
      // Not resolved, so only its name can be compared.
      const last = pattern.path.deep ? '*' : (pattern.path.segments.at(-1) ?? '')
      return real === undefined && path === undefined && (last === '*' || last === name) ? 'unknown' : 'no'
    }
  }
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.')
}
