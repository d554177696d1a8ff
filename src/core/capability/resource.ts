import { didYouMean } from '../../base/nearest-name.ts'
import { OBJECT_RIGHTS } from '../object/object.ts'
import { isRefusal, type Refusal } from '../refusal.ts'
import { parseHost } from './host-pattern.ts'
import { invalidRule } from './invalid-rule.ts'
import { type PathPattern, parseFilePattern, parseNamePattern, pathPatternText } from './path-pattern.ts'
import type { Right } from './right.ts'

export const RESOURCE_KINDS = [
  'fs',
  'shell',
  'tool',
  'workflow',
  'mcp',
  'net',
  'process',
  'session',
  'agent',
  'image',
  'skill',
  'human',
  'model',
  'secret',
  'object',
  'namespace',
  'checkpoint',
] as const
export type ResourceKind = (typeof RESOURCE_KINDS)[number]

/** The kinds whose resources are plain names: `tool:<name>`, `mcp:<server>/<tool>`. */
export type NameKind = Exclude<ResourceKind, 'fs' | 'shell' | 'net' | 'process'>

/** The resources that a rule is about. */
export type ResourcePattern =
  | { readonly kind: 'fs'; readonly path: PathPattern }
  | { readonly kind: 'shell'; readonly program: ProgramPattern }
  /** Without a port: every port. */
  | { readonly kind: 'net'; readonly host: string; readonly port: number | null }
  /** `tree`: the process and all its descendants. `*` is any pid. */
  | { readonly kind: 'process'; readonly pid: string; readonly tree: boolean }
  | { readonly kind: NameKind; readonly path: PathPattern }

/** A program by its name, by its file, or any program. The name `*` is any name. */
export type ProgramPattern =
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'file'; readonly path: PathPattern }
  | { readonly type: 'any' }

/** As long as a path can be on Linux. */
const MAX_RESOURCE_CHARS = 4096

/** The rights that something needs of a resource of this kind. A rule about any other right would never count. */
const RIGHTS_OF: { readonly [kind in ResourceKind]: readonly Right[] } = {
  fs: ['read', 'write'],
  shell: ['execute'],
  tool: ['execute'],
  workflow: ['execute'],
  mcp: ['execute'],
  net: ['read'],
  process: ['write', 'signal', 'approve'],
  session: ['write', 'signal', 'approve'],
  agent: ['execute'],
  image: ['read', 'write'],
  skill: ['read'],
  human: ['write'],
  model: ['execute'],
  secret: ['read'],
  object: OBJECT_RIGHTS,
  namespace: [],
  checkpoint: [],
}

/** Acts on them register nothing that could wait for an answer. */
const NEVER_ASKED: readonly ResourceKind[] = ['process', 'session', 'object']

export function rightsOf(kind: ResourceKind): readonly Right[] {
  return RIGHTS_OF[kind]
}

/** Whether a rule may ask about such a resource. */
export function mayBeAsked(kind: ResourceKind): boolean {
  return !NEVER_ASKED.includes(kind)
}

/** The right that a rule about such a resource gives if it names none: the only one that there is, or to read. */
export function defaultRightOf(kind: ResourceKind): Right {
  const [only, ...more] = RIGHTS_OF[kind]
  return only !== undefined && more.length === 0 ? only : 'read'
}

/** The resource of a rule: a kind, a colon and a path. */
export function parseResource(text: string): ResourcePattern | Refusal {
  const colon = text.indexOf(':')
  const kind = text.slice(0, Math.max(colon, 0))
  const rest = text.slice(colon + 1)
  if (/^\*+$/.test(text))
    return invalidRule(
      `The resource ${text} would cover everything.`,
      'Name a kind and what of it, as in fs:src/** or tool:*.',
    )
  if (!isResourceKind(kind))
    return invalidRule(
      `The resource ${JSON.stringify(text)} has no known kind.${didYouMean(kind, RESOURCE_KINDS)}`,
      `Begin it with one of ${RESOURCE_KINDS.map((known) => `${known}:`).join(' ')}`,
    )
  if (text.length > MAX_RESOURCE_CHARS)
    return invalidRule(
      `A resource of kind ${kind} has ${text.length} characters; at most ${MAX_RESOURCE_CHARS} are stored.`,
      'Use a shorter path.',
    )
  if (hasControlCharacter(rest))
    return invalidRule(`The resource ${JSON.stringify(text)} has a control character.`, 'Leave it out.')
  if (rest === '')
    return invalidRule(`The resource ${text} names nothing.`, `Write ${kind}:** for everything of this kind.`)
  return parseRest(kind, rest, text)
}

export function isResourceKind(text: string): text is ResourceKind {
  return RESOURCE_KINDS.some((kind) => kind === text)
}

export function resourceText(pattern: ResourcePattern): string {
  switch (pattern.kind) {
    case 'shell':
      return `shell:${programText(pattern.program)}`
    case 'net': {
      const host = pattern.host.includes(':') ? `[${pattern.host}]` : pattern.host
      return pattern.port === null ? `net:${host}` : `net:${host}:${pattern.port}`
    }
    case 'process':
      return `process:${pattern.pid}${pattern.tree ? '/tree' : ''}`
    default:
      return `${pattern.kind}:${pathPatternText(pattern.path)}`
  }
}

function parseRest(kind: ResourceKind, rest: string, text: string): ResourcePattern | Refusal {
  switch (kind) {
    case 'fs': {
      const path = parseFilePattern(rest, text)
      return isRefusal(path) ? path : { kind, path }
    }
    case 'shell': {
      const program = parseProgram(rest, text)
      return isRefusal(program) ? program : { kind, program }
    }
    case 'net':
      return parseNet(rest, text)
    case 'process':
      return parseProcess(rest, text)
    default: {
      const path = parseNamePattern(rest, text)
      return isRefusal(path) ? path : { kind, path }
    }
  }
}

function parseProgram(rest: string, text: string): ProgramPattern | Refusal {
  if (rest === '**') return { type: 'any' }
  if (rest.includes('/')) {
    const path = parseFilePattern(rest, text)
    return isRefusal(path) ? path : { type: 'file', path }
  }
  if (rest === '*' || !rest.includes('*')) return { type: 'name', name: rest }
  return invalidRule(
    `The resource ${text} has a * within the name of a program.`,
    'Write one rule for each program, or shell:* for all.',
  )
}

function programText(program: ProgramPattern): string {
  if (program.type === 'any') return '**'
  if (program.type === 'name') return program.name
  const path = pathPatternText(program.path)
  // Without a slash it would be a name.
  return path.includes('/') ? path : `./${path}`
}

function parseNet(rest: string, text: string): ResourcePattern | Refusal {
  if (rest === '**') return { kind: 'net', host: '*', port: null }
  const [, named = rest, digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(rest) ?? []
  const host = parseHost(named)
  const port = digits === undefined ? null : Number(digits)
  if (host !== undefined && (port === null || (port > 0 && port < 65_536))) return { kind: 'net', host, port }
  return invalidRule(
    `The resource ${text} names no host.`,
    'Write net:example.com, net:example.com:443, net:*.example.com or net:[::1]:8080.',
  )
}

function parseProcess(rest: string, text: string): ResourcePattern | Refusal {
  if (rest === '**') return { kind: 'process', pid: '*', tree: true }
  const [pid = '', tree, ...more] = rest.split('/')
  const isPid = pid === '*' || (pid !== '' && !pid.includes('*'))
  if (isPid && more.length === 0 && (tree === undefined || tree === 'tree'))
    return { kind: 'process', pid, tree: tree !== undefined }
  return invalidRule(
    `The resource ${text} names no process.`,
    'Write process:<pid>, or process:<pid>/tree with its descendants.',
  )
}

function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x20 || unit === 0x7f) return true
  }
  return false
}
