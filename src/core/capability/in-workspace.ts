import { isRefusal } from '../refusal.ts'
import { isAbsoluteGlob } from './glob.ts'
import type { PathPattern } from './path-pattern.ts'
import { parseResource, resourceText } from './resource.ts'
import type { Rule } from './rule.ts'

/** The policy file of a folder. */
export function policyPathOf(folder: string): string {
  return `${folder === '/' ? '' : folder}/.reeve/policy.json`
}

/** The folder and those above it, the root first. The path is absolute. */
export function foldersAbove(folder: string): readonly string[] {
  const segments: string[] = []
  for (const segment of folder.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return ['/', ...segments.map((_, index) => `/${segments.slice(0, index + 1).join('/')}`)]
}

/** Whether rules for a folder can be stored: a pattern cannot tell some characters of its path from wildcards. */
export function isUsableFolder(folder: string): boolean {
  return folder.startsWith('/') && !/[*?[\]{}\p{Cc}]/u.test(folder)
}

/**
 * A rule of a workspace with absolute paths, so that it is about the same files whichever folder a command runs in, and in
 * whichever workspace.
 */
export function inWorkspace(rule: Rule, folder: string): Rule {
  const pattern = parseResource(rule.resource)
  const paths = rule.constraints?.paths?.map((glob) => (isAbsoluteGlob(glob) ? glob : `${folder}/${glob}`))
  const constrained = paths === undefined ? rule : { ...rule, constraints: { ...rule.constraints, paths } }
  if (isRefusal(pattern)) return constrained
  if (pattern.kind === 'fs')
    return { ...constrained, resource: resourceText({ ...pattern, path: below(folder, pattern.path) }) }
  if (pattern.kind === 'shell' && pattern.program.type === 'file') {
    const program = { ...pattern.program, path: below(folder, pattern.program.path) }
    return { ...constrained, resource: resourceText({ ...pattern, program }) }
  }
  return constrained
}

function below(folder: string, path: PathPattern): PathPattern {
  if (path.absolute) return path
  const segments = folder.split('/').filter((segment) => segment !== '')
  return { ...path, absolute: true, segments: [...segments, ...path.segments] }
}
