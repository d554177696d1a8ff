import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import * as z from 'zod'

/** The part of JSON Schema that validators, grammar engines and model APIs all understand. */
export interface PlainSchema {
  readonly type: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly items?: PlainSchema
  readonly properties?: Readonly<Record<string, PlainSchema>>
  readonly required?: readonly string[]
  readonly maximum?: number
  readonly default?: unknown
}

/** Accepted but not listed: a rarely needed argument. Every listed character costs tokens in each turn. */
export function unlisted<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ [UNLISTED]: true })
}

/** Listed with a simpler schema than the one that is checked. */
export function listedAs<Schema extends z.ZodType>(schema: Schema, plain: PlainSchema): Schema {
  return schema.meta({ [LISTED_AS]: plain })
}

const UNLISTED = 'reeve/unlisted'
const LISTED_AS = 'reeve/listed-as'

/** The listed schema of a tool's arguments. The real schema is checked when the tool is called. */
export function plainSchema(input: z.ZodType): PlainSchema {
  const known = converted.get(input)
  if (known !== undefined) return known
  const schema = plain(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as JsonSchema)
  converted.set(input, schema)
  return schema
}

/** Cached, because every HTTP request makes a server. */
const converted = new WeakMap<z.ZodType, PlainSchema>()

/** For the SDK, which would otherwise publish and check the real schema. */
export function published(schema: PlainSchema): StandardSchemaWithJSON<Record<string, unknown>> {
  const json = { ...schema } as Record<string, unknown>
  return {
    '~standard': {
      version: 1,
      vendor: 'reeve',
      validate: (value) => ({ value: Object(value) as Record<string, unknown> }),
      jsonSchema: { input: () => json, output: () => json },
    },
  }
}

type JsonSchema = Readonly<Record<string, unknown>>

/** Higher bounds are not listed: no model comes near them. */
const MAX_LISTED_BOUND = 50_000

function plain(schema: JsonSchema): PlainSchema {
  const { description } = schema
  const about = typeof description === 'string' ? { description } : {}
  const listed = schema[LISTED_AS]
  if (listed !== undefined) return { ...about, ...(listed as PlainSchema) }
  const [first] = (schema['anyOf'] ?? schema['oneOf'] ?? []) as JsonSchema[]
  if (first !== undefined) return { ...plain(first), ...about }
  const type = typeOf(schema)
  return {
    type,
    ...about,
    ...(type === 'string' ? choicesOf(schema) : {}),
    ...(type === 'integer' ? boundOf(schema) : {}),
    ...(type === 'array' ? { items: plain(schema['items'] as JsonSchema) } : {}),
    ...(type === 'object' ? membersOf(schema) : {}),
    // Empty defaults go without saying.
    ...(schema['default'] ? { default: schema['default'] } : {}),
  }
}

function typeOf({ type, const: only }: JsonSchema): string {
  if (type === 'number') return 'integer'
  return typeof type === 'string' ? type : typeof only
}

function choicesOf(schema: JsonSchema): Pick<PlainSchema, 'enum'> {
  const { enum: choices, const: only } = schema as { enum?: readonly unknown[]; const?: unknown }
  if (choices !== undefined) return { enum: choices }
  return only === undefined ? {} : { enum: [only] }
}

function boundOf({ maximum }: JsonSchema): Pick<PlainSchema, 'maximum'> {
  return typeof maximum === 'number' && maximum <= MAX_LISTED_BOUND ? { maximum } : {}
}

function membersOf(schema: JsonSchema): Pick<PlainSchema, 'properties' | 'required'> {
  const { properties = {}, required = [] } = schema as {
    properties?: Readonly<Record<string, JsonSchema>>
    required?: readonly string[]
  }
  const listed = Object.entries(properties).filter(([, of]) => of[UNLISTED] !== true)
  return {
    properties: Object.fromEntries(listed.map(([name, of]) => [name, plain(of)])),
    ...(required.length === 0 ? {} : { required }),
  }
}
