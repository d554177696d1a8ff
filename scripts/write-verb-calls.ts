/**
 * Writes src/verbs/calls.ts: the methods of a `Reeve`, one for each verb, with the texts of the schemas as doc comments, so
 * that an editor shows them. A test compares the two.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { verbs } from '../src/verbs/reeve.ts'
import { amounts } from '../src/verbs/shapes/allowance.ts'
import { commandSpec } from '../src/verbs/shapes/command-spec.ts'
import { environmentShape } from '../src/verbs/shapes/environment.ts'
import { filter } from '../src/verbs/shapes/filter.ts'
import { inherited } from '../src/verbs/shapes/inherited.ts'
import { json, jsonObject } from '../src/verbs/shapes/json.ts'
import { owner } from '../src/verbs/shapes/owner.ts'
import { rawBytes } from '../src/verbs/shapes/raw-bytes.ts'
import { reader } from '../src/verbs/shapes/reader.ts'
import { record } from '../src/verbs/shapes/record.ts'
import { registration } from '../src/verbs/shapes/registration.ts'
import { act } from '../src/verbs/shapes/worker.ts'
import type { Verb } from '../src/verbs/verb.ts'

interface Schema {
  readonly typeName?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}

const FILE = 'src/verbs/calls.ts'

/** Types that core has a name for. */
const IMPORTED = new Map<z.core.$ZodType, string>([
  [json, 'Json'],
  [jsonObject, 'JsonObject'],
  [rawBytes, 'Uint8Array'],
  [environmentShape, 'Environment'],
  [owner, 'Owner'],
  [amounts, 'Amounts'],
  [record, 'ProcessRecord'],
])

/** Types that several verbs share. */
const SHARED = new Map<z.core.$ZodType, string>([
  [registration, 'RegistrationInput'],
  [commandSpec, 'CommandSpecInput'],
  [filter, 'FilterInput'],
  [inherited, 'InheritedInput'],
  [reader, 'ReaderInput'],
  [act, 'WorkInput'],
])

/** Verbs whose answers are spelled out, with a text for each member. The answers of the others are derived from their schemas. */
const SPELLED_OUT: ReadonlySet<string> = new Set([
  'spawn',
  'list',
  'wait',
  'poll',
  'notices',
  'takeNotices',
  'acknowledge',
])

const HEAD = `// Written by \`node scripts/write-verb-calls.ts\` from the verbs; do not edit.
import type { Amounts } from '../core/allowance/amounts.ts'
import type { Environment } from '../core/environment/environment.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import type { Owner, ProcessRecord } from '../core/process/record.ts'
import type { CallOptions, OutputOf } from './reeve.ts'
`

export function verbCallsText(): string {
  const shared = [...SHARED].map(
    ([schema, name]) => `type ${name} = ${typeText(schemaOf(schema as z.ZodType, 'input', true))}\n`,
  )
  const methods = Object.entries(verbs).map(([name, verb]) => method(name, verb))
  const calls = `/** The verbs as methods. */\nexport interface VerbCalls {\n${methods.join('')}}\n`
  return formatted([HEAD, calls, ...shared].join('\n'))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(FILE, verbCallsText())

function formatted(text: string): string {
  return execFileSync('npx', ['biome', 'format', `--stdin-file-path=${FILE}`], {
    input: text,
    encoding: 'utf8',
  })
}

function method(name: string, verb: Verb): string {
  const schema = schemaOf(verb.input, 'input')
  const canBeEmpty = verb.input.safeParse({}).success
  const input = `input${canBeEmpty ? '?' : ''}: ${typeText(schema)}`
  const answer = SPELLED_OUT.has(name) ? typeText(schemaOf(verb.output, 'output')) : `OutputOf<'${name}'>`
  return `${comment(textOf(verb))}${name}(${input}, options?: CallOptions): Promise<${answer}>\n`
}

function textOf({ summary, description, needs, codes }: Verb): string {
  const refusals = codes.length === 0 ? '' : ` Refuses with ${codes.map((code) => `\`${code}\``).join(', ')}.`
  return [summary, description, `Needs the role \`${needs}\`.${refusals}`].filter(Boolean).join('\n\n')
}

/** With `isOpened` a shared type is spelled out instead of named. */
function schemaOf(type: z.ZodType, io: 'input' | 'output', isOpened = false): Schema {
  return z.toJSONSchema(type, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      const typeName = nameOf(zodSchema, isOpened && path.length === 0)
      if (typeName !== undefined) Object.assign(jsonSchema, { typeName })
    },
  }) as Schema
}

/** A schema that only adds a description to another one has the name of that one. */
function nameOf(schema: z.core.$ZodType | undefined, isOpened: boolean): string | undefined {
  if (schema === undefined) return undefined
  const own = IMPORTED.get(schema) ?? (isOpened ? undefined : SHARED.get(schema))
  return own ?? nameOf(schema._zod.parent, isOpened)
}

function typeText(schema: Schema): string {
  if (schema.typeName !== undefined) return schema.typeName
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map((choice) => `(${typeText(choice)})`))].join(' | ')
  if (schema.type === 'array') return arrayText(schema)
  if (schema.type === 'object') return objectText(schema)
  if (schema.type === undefined) return 'unknown'
  return [schema.type].flat().map(simpleTypeText).join(' | ')
}

function simpleTypeText(type: string): string {
  return type === 'integer' ? 'number' : type
}

function arrayText({ items, prefixItems }: Schema): string {
  if (prefixItems !== undefined) return `[${prefixItems.map(typeText).join(', ')}]`
  return `(${items === undefined ? 'unknown' : typeText(items)})[]`
}

function objectText({ properties, required = [], additionalProperties }: Schema): string {
  if (properties === undefined && typeof additionalProperties === 'object')
    return `Record<string, ${typeText(additionalProperties)}>`
  const members = Object.entries(properties ?? {}).map(([name, member]) => {
    const isOptional = !required.includes(name)
    const type = typeText(member)
    // zod takes undefined for a member with a default, and the schemas do for any JSON.
    const mayBeUndefined = isOptional && (type === 'Json' || member.default !== undefined)
    const given = mayBeUndefined ? `(${type}) | undefined` : type
    return `${comment(memberText(member))}${name}${isOptional ? '?' : ''}: ${given}\n`
  })
  return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}}`
}

function memberText({ description, default: byDefault }: Schema): string {
  const text = description === undefined ? '' : `${description[0]?.toUpperCase()}${description.slice(1)}.`
  return [text, byDefault === undefined ? '' : `Default: \`${JSON.stringify(byDefault)}\`.`]
    .filter(Boolean)
    .join(' ')
}

function comment(text: string): string {
  if (text === '') return ''
  const lines = text.replaceAll('*/', '*\\/').split('\n')
  return lines.length === 1
    ? `/** ${text} */\n`
    : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
}
