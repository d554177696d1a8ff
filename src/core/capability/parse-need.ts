import { isRefusal } from '../refusal.ts'
import type { ConcreteResource, Need } from './need.ts'
import { pathPatternText } from './path-pattern.ts'
import { defaultRightOf, parseResource, type ResourcePattern } from './resource.ts'
import { RIGHTS, type Right } from './right.ts'

/** A need as people write it: `write fs:src/main.ts`, or a resource alone. Null if it names no single resource, or a program. */
export function parseNeed(text: string, otherwise?: Right): Need | null {
  const [first = '', rest] = text.trim().split(/\s+(.*)/s)
  const right = RIGHTS.find((one) => one === first)
  const pattern = parseResource(right === undefined || rest === undefined ? text.trim() : rest)
  if (isRefusal(pattern)) return null
  const resource = concreteOf(pattern)
  if (resource === undefined) return null
  const { kind } = resource
  const attributes = kind === 'model' || kind === 'human' ? { implied: true as const } : {}
  return { right: right ?? otherwise ?? defaultRightOf(kind), resource, attributes }
}

function concreteOf(pattern: ResourcePattern): ConcreteResource | undefined {
  switch (pattern.kind) {
    case 'shell':
      return undefined
    case 'net': {
      const { host, port } = pattern
      if (host.includes('*')) return undefined
      return port === null ? { kind: 'net', host } : { kind: 'net', host, port }
    }
    case 'process':
      return pattern.pid === '*' || pattern.tree
        ? undefined
        : { kind: 'process', pid: pattern.pid, ancestors: [] }
    default:
      return pattern.path.deep || pattern.path.segments.includes('*')
        ? undefined
        : { kind: pattern.kind, path: pathPatternText(pattern.path) }
  }
}
