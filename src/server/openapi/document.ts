import { type VerbName, verbs } from '../../verbs/reeve.ts'
import { hasBody, partsOf } from '../../verbs/request.ts'
import type { Verb } from '../../verbs/verb.ts'
import { otherPaths } from './other-paths.ts'
import { type Schema, Schemas } from './schemas.ts'

type Paths = Record<string, Record<string, unknown>>

/** The OpenAPI 3.1 document, made from the verbs. */
export function openApiDocument(version: string): Record<string, unknown> {
  const schemas = new Schemas()
  const paths: Paths = {}
  for (const name of Object.keys(verbs) as VerbName[]) {
    const verb: Verb = verbs[name]
    const { method, path } = partsOf(verb.route)
    const at = `/v1${path}`
    paths[at] = { ...paths[at], [method.toLowerCase()]: operation(name, verb, schemas) }
  }
  for (const [path, operations] of Object.entries(otherPaths)) paths[path] = { ...paths[path], ...operations }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Reeve',
      version,
      description:
        'The process layer for AI agents. Errors are problem documents (RFC 9457) with a stable code. Over TCP every request has a bearer token; over the Unix socket none.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: { ...schemas.components, Problem: PROBLEM },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      responses: {
        Problem: {
          description: 'A refusal or an error; the code says which.',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  }
}

function operation(name: VerbName, verb: Verb, schemas: Schemas): Record<string, unknown> {
  const { method, path } = partsOf(verb.route)
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, member = '']) => member)
  const input = schemas.of(verb.input, 'input')
  const { properties = {}, required = [] } = input as {
    properties?: Record<string, Schema>
    required?: readonly string[]
  }
  const rest = Object.keys(properties).filter((member) => !inPath.includes(member))
  const parameters = [
    ...inPath.map((member) => ({
      name: member,
      in: 'path',
      required: true,
      schema: properties[member] ?? {},
    })),
    ...(hasBody(method)
      ? []
      : rest.map((member) => queryParameter(member, properties[member] ?? {}, required.includes(member)))),
    ...ACTING_AS,
    ...(verb.idempotencyHeader === true ? [IDEMPOTENCY_KEY] : []),
  ]
  return {
    operationId: name,
    summary: verb.summary,
    ...(verb.description === undefined ? {} : { description: verb.description }),
    parameters,
    ...(hasBody(method) ? { requestBody: bodyOf(input, inPath) } : {}),
    responses: {
      200: {
        description: 'The answer of the verb.',
        headers: { 'Reeve-Position': POSITION },
        content: { 'application/json': { schema: schemas.of(verb.output, 'output') } },
      },
      default: { $ref: '#/components/responses/Problem' },
    },
    'x-reeve-needs': verb.needs,
    'x-reeve-codes': ['invalid_input', ...verb.codes],
  }
}

/** The query has texts as they are and everything else as JSON. Numbers and booleans look the same either way. */
function queryParameter(name: string, schema: Schema, required: boolean): Record<string, unknown> {
  const isPlain = ['string', 'integer', 'number', 'boolean'].includes(String(schema['type']))
  const shape = isPlain ? { schema } : { content: { 'application/json': { schema } } }
  return { name, in: 'query', required, ...shape }
}

/** Members of the path are not in the body. */
function bodyOf(input: Schema, inPath: readonly string[]): Record<string, unknown> {
  const { properties, required, ...more } = input as {
    properties?: Record<string, Schema>
    required?: readonly string[]
  }
  const kept = Object.entries(properties ?? {}).filter(([member]) => !inPath.includes(member))
  const needed = (required ?? []).filter((member) => !inPath.includes(member))
  const schema =
    properties === undefined
      ? input
      : {
          ...more,
          properties: Object.fromEntries(kept),
          ...(needed.length === 0 ? {} : { required: needed }),
        }
  const isNeeded = needed.length > 0 || properties === undefined
  return { required: isNeeded, content: { 'application/json': { schema } } }
}

const POSITION = {
  description: 'The position of the change feed before the act: follow from here to miss nothing.',
  schema: { type: 'integer', minimum: 0 },
}

const ACTING_AS = [
  {
    name: 'Reeve-As',
    in: 'header',
    description: 'Acts as another actor, like session:s1. An agent token acts as its session only.',
    schema: { type: 'string' },
  },
]

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same as idempotencyKey in the body.',
  schema: { type: 'string' },
}

const PROBLEM: Schema = {
  type: 'object',
  properties: {
    type: { type: 'string', pattern: '^urn:reeve:error:' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'what happened' },
    code: { type: 'string', description: 'stable; docs/errors.md lists them' },
    remedy: { type: 'string', description: 'what to do next' },
    details: { type: 'object', additionalProperties: true },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'remedy', 'details'],
}
