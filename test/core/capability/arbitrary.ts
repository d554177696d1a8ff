import fc from 'fast-check'
import type { ConcreteResource, Need } from '../../../src/core/capability/need.ts'
import { mayBeAsked, rightsOf } from '../../../src/core/capability/resource.ts'
import type { Right } from '../../../src/core/capability/right.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import { NOON, rule } from './rules.ts'

export const WORKSPACE = '/a/w'

/** Kinds that are matched in ways of their own. */
export const anyKind = fc.constantFrom('fs', 'shell', 'mcp', 'net', 'process')
type Kind = 'fs' | 'shell' | 'mcp' | 'net' | 'process'

// Few and similar names, so that rules and needs often meet.
export const segment = fc.constantFrom('a', 'ab', 'b')
const pathPattern = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'ab', 'b', '*'), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '/**'),
  )
  .map(([segments, end]) => `${segments.join('/')}${end}`)
const filePath = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'))
const program = fc.constantFrom('git', 'gi', 'ls', 'sh')
const pid = fc.constantFrom('p_1', 'p_2', 'p_3')
const host = fc.constantFrom('dev', 'x.dev', 'y.x.dev', 'xx.dev')
const port = fc.constantFrom(1, 2)
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

const RESOURCES: { readonly [kind in Kind]: fc.Arbitrary<string> } = {
  fs: fc.oneof(
    pathPattern.map((path) => `fs:${path}`),
    pathPattern.map((path) => `fs:/${path}`),
    fc.constantFrom('fs:**', 'fs:/**'),
  ),
  shell: fc.oneof(
    program.map((name) => `shell:${name}`),
    program.map((name) => `shell:/bin/${name}`),
    fc.constantFrom('shell:*', 'shell:**', 'shell:/bin/*', 'shell:./git', 'shell:a/**'),
  ),
  mcp: pathPattern.map((path) => `mcp:${path}`),
  net: fc.oneof(
    fc.tuple(host, fc.constantFrom('', ':1', ':2')).map((parts) => `net:${parts.join('')}`),
    host.map((name) => `net:*.${name}`),
  ),
  process: fc.tuple(pid, fc.constantFrom('', '/tree')).map((parts) => `process:${parts.join('')}`),
}

const CONCRETE: { readonly [kind in Kind]: fc.Arbitrary<ConcreteResource> } = {
  fs: fc
    .oneof(
      filePath,
      filePath.map((path) => `/${path}`),
      filePath.map((path) => `${WORKSPACE}/${path}`),
      fc.constant(null),
    )
    .map((path) => ({ kind: 'fs', path, workspace: WORKSPACE })),
  shell: fc
    .record(
      {
        name: program,
        folder: fc.constantFrom('', 'a/', '/bin/'),
        real: program.map((name) => `/bin/${name}`),
      },
      { requiredKeys: ['name'] },
    )
    .map(({ name, folder, ...real }) => ({
      kind: 'shell',
      workspace: WORKSPACE,
      program: { name, ...(folder === undefined ? {} : { path: `${folder}${name}` }), ...real },
    })),
  mcp: filePath.map((path) => ({ kind: 'mcp', path })),
  net: fc.record({ kind: fc.constant('net' as const), host, port }, { requiredKeys: ['kind', 'host'] }),
  process: fc.record({
    kind: fc.constant('process' as const),
    pid,
    ancestors: fc.subarray(['p_1', 'p_2', 'p_3']),
  }),
}

export function resourceOf(kind: Kind): fc.Arbitrary<string> {
  return RESOURCES[kind]
}

export function concreteOf(kind: Kind): fc.Arbitrary<ConcreteResource> {
  return CONCRETE[kind]
}

export function needOf(kind: Kind): fc.Arbitrary<Need> {
  const attributes = fc.record(
    {
      args: fc.array(fc.constantFrom('push', 'status', null), { maxLength: 2 }),
      unknownOption: fc.boolean(),
      env: fc.constant([]),
      opaque: fc.constant('it is'),
    },
    { requiredKeys: ['args', 'unknownOption', 'env'] },
  )
  return fc.record({
    right: fc.constantFrom(...rightsOf(kind)),
    resource: concreteOf(kind),
    attributes: kind === 'shell' ? attributes : fc.constant({}),
  })
}

export function ruleOf(kind: Kind): fc.Arbitrary<Rule> {
  const token = fc.constantFrom<string | string[]>('push', 'status', ['push', 'status'])
  return fc
    .tuple(
      fc.constantFrom('allow', 'deny', ...(mayBeAsked(kind) ? ['ask'] : [])),
      resourceOf(kind),
      fc.subarray<Right>([...rightsOf(kind)], { minLength: 1 }),
      fc.array(token, { maxLength: 2 }),
      fc.boolean(),
      optional(fc.constantFrom(NOON, NOON + 1)),
    )
    .map(([effect, resource, rights, args, isRequestable, expiresAt]) =>
      rule({
        effect,
        resource,
        rights,
        ...(kind === 'shell' && args.length > 0 ? { constraints: { args } } : {}),
        ...(effect === 'ask' && isRequestable ? { requestable: true } : {}),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      }),
    )
}

/** Rules of a kind and of others, with ids by their place. */
export function rulesOf(kind: Kind): fc.Arbitrary<readonly Rule[]> {
  return fc
    .array(
      fc.oneof({ weight: 3, arbitrary: ruleOf(kind) }, { weight: 1, arbitrary: anyKind.chain(ruleOf) }),
      {
        maxLength: 12,
        size: 'max',
      },
    )
    .map((rules) => rules.map((one, index) => ({ ...one, id: `r${index}` })))
}
