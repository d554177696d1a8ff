/** Writes docs/api.md, the reference of the HTTP API, from the schemas of the verbs. A test compares the two. */
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { verbs } from '../src/verbs/reeve.ts'
import type { Verb } from '../src/verbs/verb.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly maximum?: number
}

interface Member {
  readonly path: string
  readonly optional: boolean
  readonly schema: Schema
}

/** Deeper members are shown as an object; the OpenAPI document has the rest. */
const MAX_DEPTH = 2

const HEAD = `# API reference

Made by \`node scripts/write-api-reference.ts\` from the schemas in \`src/verbs/\`; do not edit. One section for each
verb: its method in a program (\`reeve.kill({ pid })\`), its route below \`/v1\`, the least [role](daemon.md#tokens) that
may call it, its input, and what it may refuse with besides \`invalid_input\` and trouble of the store
([errors.md](errors.md)). What each answers is in [verbs.md](verbs.md), and every schema in full in
\`GET /v1/openapi.json\`. [http.md](http.md) explains how requests are made; \`reeve call <verb>\` makes them.
`

export function apiReference(): string {
  const names = Object.keys(verbs) as (keyof typeof verbs)[]
  return [HEAD, overview(names), ...names.map((name) => section(name, verbs[name]))].join('\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync('docs/api.md', apiReference())

function overview(names: readonly (keyof typeof verbs)[]): string {
  const lines = names.map((name) => {
    const { route, needs, summary } = verbs[name]
    return `| [\`${name}\`](#${name.toLowerCase()}) | \`${route}\` | ${needs} | ${summary} |`
  })
  return ['| verb | route | role | what it does |', '| --- | --- | --- | --- |', ...lines, ''].join('\n')
}

function section(name: string, { summary, description, route, needs, input, codes }: Verb): string {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema
  const found = membersOf(schema)
  const table =
    found.length === 0
      ? ['Takes nothing.']
      : ['| member | type | |', '| --- | --- | --- |', ...found.map(memberLine)]
  const refusals = codes.length === 0 ? [] : ['', `Refuses with ${codes.map(quoted).join(', ')}.`]
  const more = description === undefined ? [] : [description, '']
  return [
    `## ${name}`,
    '',
    `${summary} \`${route}\`, ${needs}.`,
    '',
    ...more,
    ...table,
    ...refusals,
    '',
  ].join('\n')
}

function membersOf(schema: Schema): Member[] {
  const kinds = schema.oneOf ?? [schema]
  const found = kinds.flatMap((kind) => {
    const label = kind.properties?.['kind']?.const
    return below(kind, '', 1).map((member) => ({ ...member, label }))
  })
  // A member that is the same for all kinds is listed once, any other with its kind.
  const shared = ({ path, schema }: Member) =>
    found.filter((other) => other.path === path && same(other.schema, schema)).length === kinds.length
  const seen = new Set<string>()
  return found.flatMap(({ label, ...member }) => {
    if (member.path === 'kind' && kinds.length > 1) {
      if (seen.has('kind')) return []
      seen.add('kind')
      const choices = kinds.map((kind) => kind.properties?.['kind']?.const)
      return [{ ...member, schema: { enum: choices } }]
    }
    if (!shared(member))
      return [{ ...member, path: label === undefined ? member.path : `${label}: ${member.path}` }]
    if (seen.has(member.path)) return []
    seen.add(member.path)
    return [member]
  })
}

function below(schema: Schema, prefix: string, depth: number): Member[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = `${prefix}${name}`
    const optional = !(schema.required ?? []).includes(name)
    const here = { path, optional, schema: member }
    const hasMembers = depth < MAX_DEPTH && Object.keys(member.properties ?? {}).length > 0
    return hasMembers ? [here, ...below(member, `${path}.`, depth + 1)] : [here]
  })
}

function memberLine({ path, optional, schema }: Member): string {
  const [kind, name] = path.includes(': ') ? path.split(': ') : [undefined, path]
  const said = [
    kind === undefined || name?.includes('.') ? undefined : `of kind \`${kind}\``,
    schema.description,
    schema.default === undefined ? undefined : `default \`${JSON.stringify(schema.default)}\``,
  ].filter((part) => part !== undefined)
  const text = said.join('; ').replaceAll('|', '\\|')
  return `| \`${name}${optional ? '?' : ''}\` | ${typeOf(schema)} |${text === '' ? '' : ` ${text}`} |`
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return quoted(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(quoted).join(', ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ')
  if (schema.type === 'array') return `list of ${schema.items === undefined ? 'JSON' : typeOf(schema.items)}`
  if (schema.type === 'integer') return 'whole number'
  if (schema.type === 'string') return 'text'
  if (typeof schema.type === 'string') return schema.type
  return 'JSON'
}

function quoted(value: unknown): string {
  return `\`${String(value)}\``
}

function same(one: Schema, other: Schema): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
