import type { Token } from './token.ts'
import { variableRunsPrograms } from './variables.ts'

/** Builtins of the shell that run text, or change what later names mean. */
const RUN_TEXT = new Map([
  ['eval', 'eval runs text that is not analysed'],
  ['source', 'source runs a file'],
  ['.', '. runs a file'],
  ['trap', 'trap runs text later'],
  ['alias', 'alias changes what a name means'],
  ['hash', 'hash changes what a name means'],
  ['enable', 'enable changes what a name means'],
  ['complete', 'complete runs text'],
  ['compgen', 'compgen runs text'],
  ['bind', 'bind runs text'],
  ['fc', 'fc runs earlier commands'],
  ['mapfile', 'mapfile may run text'],
  ['readarray', 'readarray may run text'],
  ['let', 'let evaluates an expression, which may run commands'],
])

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)\+?=([\s\S]*)$/

/** Why a builtin of the shell runs more than its arguments say, if so. Bash evaluates the index of `a[…]`, also in a name. */
export function builtinRunsMore(name: string, args: readonly Token[]): string | undefined {
  const runsText = RUN_TEXT.get(name)
  if (runsText !== undefined) return runsText
  switch (name) {
    case 'export':
    case 'readonly':
    case 'declare':
    case 'typeset':
    case 'local':
      return declarationRunsMore(name, args)
    case 'unset':
    case 'getopts':
    case 'read':
      return namesRunMore(name, args)
    case 'printf':
      return mayBeOption(args[0], /^-v/) && (args.length > 1 || args[0]?.isSplit === true)
        ? 'printf sets a variable whose index may run commands'
        : undefined
    case 'wait':
      return args.some((arg) => mayBeOption(arg, /^-[a-z]*p/))
        ? 'wait sets a variable whose index may run commands'
        : undefined
    case 'set':
      return args[0]?.value !== '--' &&
        args.some((arg) => mayBeOption(arg, /^-[a-zA-Z]*[kH]|^(keyword|histexpand)$/))
        ? 'set changes how commands are read'
        : undefined
    case 'test':
    case '[':
      return testRunsMore(name, args)
    case 'jobs':
      return args.some((arg) => mayBeOption(arg, /^-[a-z]*x/)) ? 'jobs may run a command' : undefined
    default:
      return undefined
  }
}

function mayBeOption(token: Token | undefined, pattern: RegExp): boolean {
  if (token === undefined) return false
  return token.value === null ? token.mayBeOption : pattern.test(token.value)
}

/** `declare -i` evaluates the assigned value, and `declare -n` makes a name stand for another. */
function declarationRunsMore(name: string, args: readonly Token[]): string | undefined {
  for (const { value, assigns } of args) {
    if (value === null) {
      if (assigns === undefined) return `${name} sets variables that are not literal`
      if (variableRunsPrograms(assigns, null)) return `${name} sets ${assigns}, which may run programs`
      continue
    }
    if (/^[-+]/.test(value)) {
      if (!/^[-+][aAfFgIlprtux]*$/.test(value) && value !== '--')
        return `${name} ${value} may evaluate values`
      continue
    }
    const assigned = ASSIGNMENT.exec(value)
    if (assigned === null && !NAME.test(value)) return `${name} sets a variable whose index may run commands`
    if (assigned !== null && variableRunsPrograms(assigned[1]!, assigned[2]!))
      return `${name} sets ${assigned[1]}, which may run programs`
  }
  return undefined
}

function namesRunMore(name: string, args: readonly Token[]): string | undefined {
  for (const { value } of args) {
    if (value === null) return `${name} has a name that is not literal`
    if (value.includes('[')) return `${name} has a name whose index may run commands`
    if (name !== 'unset' && variableRunsPrograms(value, null))
      return `${name} sets ${value}, which may run programs`
  }
  return undefined
}

/** `test -v 'a[$(x)]'` runs x. */
function testRunsMore(name: string, args: readonly Token[]): string | undefined {
  const operands = name === '[' && args.at(-1)?.value === ']' ? args.slice(0, -1) : args
  const isEvaluated = operands.some(({ value }, index) => value === '-v' && mayRun(operands[index + 1]))
  const isUnknown = operands.some(({ isSplit }) => isSplit)
  // A quoted variable can be the operator if another word follows that no literal operator separates from it.
  const mayBeOperator = operands.some(({ value }, index) => {
    const next = operands[index + 1]
    return value === null && next !== undefined && mayRun(next)
  })
  return isEvaluated || isUnknown || mayBeOperator
    ? `${name} may evaluate the index of a variable`
    : undefined
}

function mayRun(token: Token | undefined): boolean {
  return token !== undefined && (token.value === null || /[[`$]/.test(token.value))
}
