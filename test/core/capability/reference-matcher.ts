import type { ConcreteResource, Need } from '../../../src/core/capability/need.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import { WORKSPACE } from './arbitrary.ts'
import { NOON } from './rules.ts'

/** Whether a rule is about a need at noon, by comparing texts. It knows what the generators make, and nothing else. */
export function isAbout(one: Rule, asked: Need): boolean {
  if (!one.rights.includes(asked.right)) return false
  if (one.expiresAt !== undefined && one.expiresAt <= NOON) return false
  const isWidening = one.effect === 'allow' || one.requestable === true
  const { kind } = asked.resource
  if (!one.resource.startsWith(`${kind}:`)) return false
  const text = one.resource.slice(kind.length + 1)
  const isOpaque = asked.attributes.opaque !== undefined
  const tokens = one.constraints?.args
  if (one.resource === 'shell:sh' && tokens === undefined && (isWidening || isOpaque)) return true
  if (isWidening && isOpaque && one.resource !== 'shell:sh') return false
  const certainty = [resourceCertainty(text, asked.resource), argsCertainty(tokens, asked)]
  return certainty.every((found) => found === 1 || (found === 0.5 && !isWidening))
}

/** 1: yes, 0.5: perhaps, 0: no. */
function resourceCertainty(text: string, found: ConcreteResource): number {
  switch (found.kind) {
    case 'fs':
      return fileCertainty(text, found.path)
    case 'shell': {
      const { name, path, real } = found.program
      if (text === '**') return 1
      if (text.includes('/')) {
        const files = [path, real].filter((one) => one !== undefined)
        if (files.some((one) => fileCertainty(text.replace(/^\.\//, ''), one) === 1)) return 1
        const last = text.split('/').at(-1) ?? ''
        return files.length === 0 && (last.includes('*') || last === name) ? 0.5 : 0
      }
      if (path === undefined && (text === '*' || text === name)) return 1
      const names = [name, path?.split('/').at(-1), real?.split('/').at(-1)]
      return text === '*' || names.includes(text) ? 0.5 : 0
    }
    case 'net': {
      const [name = '', port] = text.split(':')
      const isHost = name.startsWith('*.') ? found.host.endsWith(name.slice(1)) : found.host === name
      if (!isHost || port === undefined) return isHost ? 1 : 0
      return found.port === undefined ? 0.5 : Number(found.port === Number(port))
    }
    case 'process': {
      const [own = '', tree] = text.split('/')
      return Number(own === found.pid || (tree !== undefined && found.ancestors.includes(own)))
    }
    default:
      return Number(expression(text).test(found.path))
  }
}

function fileCertainty(text: string, path: string | null): number {
  if (text === '/**') return 1
  if (path === null) return 0.5
  const absolute = path.startsWith('/') ? path : `${WORKSPACE}/${path}`
  if (text.startsWith('/')) return Number(expression(text).test(absolute))
  return Number(
    absolute.startsWith(`${WORKSPACE}/`) && expression(text).test(absolute.slice(WORKSPACE.length + 1)),
  )
}

function expression(text: string): RegExp {
  if (text === '**') return /^/
  const below = text.endsWith('/**')
  const segments = (below ? text.slice(0, -3) : text).replaceAll('*', '[^/]+')
  return new RegExp(`^${segments}${below ? '(/.*)?' : ''}$`)
}

function argsCertainty(tokens: NonNullable<Rule['constraints']>['args'], { attributes }: Need): number {
  if (tokens === undefined) return 1
  if (attributes.unknownOption === true) return 0.5
  const given = attributes.args ?? []
  const first = tokens.findIndex(
    (token, index) => !([] as (string | null | undefined)[]).concat(token).includes(given[index]),
  )
  if (first === -1) return 1
  return given[first] === null ? 0.5 : 0
}
