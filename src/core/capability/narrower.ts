import { alternatives, CONSTRAINTS, type ConstraintName, type Constraints } from './constraint.ts'
import { isNarrowerGlob } from './glob.ts'
import { isNarrowerHost } from './host-pattern.ts'
import { isNarrowerHours } from './hours.ts'
import { isNarrowerPath, type PathPattern } from './path-pattern.ts'
import type { ProgramPattern, ResourcePattern } from './resource.ts'

/** Whether the pattern certainly covers only resources that the other one covers. Every pattern is narrower than itself. */
export function isNarrower(pattern: ResourcePattern, than: ResourcePattern): boolean {
  switch (pattern.kind) {
    case 'fs':
      return than.kind === 'fs' && isNarrowerFile(pattern.path, than.path)
    case 'shell':
      return than.kind === 'shell' && isNarrowerProgram(pattern.program, than.program)
    case 'net':
      return (
        than.kind === 'net' &&
        isNarrowerHost(pattern.host, than.host) &&
        (than.port === null || than.port === pattern.port)
      )
    case 'process':
      if (than.kind !== 'process') return false
      return than.pid === '*' || (than.pid === pattern.pid && (than.tree || !pattern.tree))
    default:
      return than.kind === pattern.kind && isNarrowerPath(pattern.path, than.path)
  }
}

/** The constraint that is missing or wider than that of the other list; undefined if every one is as narrow. */
export function widerConstraint(constraints: Constraints, than: Constraints): ConstraintName | undefined {
  return CONSTRAINTS.find((name) => !IS_NARROWER[name](constraints, than))
}

const IS_NARROWER: {
  readonly [name in ConstraintName]: (constraints: Constraints, than: Constraints) => boolean
} = {
  args: ({ args }, than) =>
    than.args === undefined ||
    than.args.every((token, index) => {
      const own = args?.[index]
      return own !== undefined && isWithin(alternatives(own), alternatives(token))
    }),
  paths: ({ paths }, than) =>
    than.paths === undefined ||
    paths?.every((glob) => than.paths?.some((wider) => isNarrowerGlob(glob, wider))) === true,
  maxBytes: ({ maxBytes }, than) =>
    than.maxBytes === undefined || (maxBytes !== undefined && maxBytes <= than.maxBytes),
  methods: ({ methods }, than) =>
    than.methods === undefined || (methods !== undefined && isWithin(methods, than.methods)),
  hosts: ({ hosts }, than) =>
    than.hosts === undefined ||
    hosts?.every((host) => than.hosts?.some((wider) => isNarrowerHost(host, wider))) === true,
  env: ({ env }, than) => than.env === undefined || (env !== undefined && isWithin(env, than.env)),
  action: ({ action }, than) => than.action === undefined || action === than.action,
  hours: ({ hours }, than) =>
    than.hours === undefined || (hours !== undefined && isNarrowerHours(hours, than.hours)),
}

/** `/**` covers all files, also those of the workspace. */
function isNarrowerFile(pattern: PathPattern, than: PathPattern): boolean {
  return (than.absolute && than.deep && than.segments.length === 0) || isNarrowerPath(pattern, than)
}

function isNarrowerProgram(program: ProgramPattern, than: ProgramPattern): boolean {
  if (than.type === 'any') return true
  if (program.type === 'name' && than.type === 'name') return than.name === '*' || than.name === program.name
  return program.type === 'file' && than.type === 'file' && isNarrowerFile(program.path, than.path)
}

function isWithin(some: readonly string[], all: readonly string[]): boolean {
  return some.every((one) => all.includes(one))
}
