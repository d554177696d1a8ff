import { RefusedError } from '../errors.ts'
import type { Json } from '../json/json.ts'
import { encode } from './encode.ts'
import { unstorable } from './stored-value.ts'
import type { Value } from './value.ts'

/** A request whose `spec.input` may be more than JSON: of a tool or a workflow. */
export type WithValueInput<Request> = Request extends {
  readonly kind: 'workflow' | 'tool'
  readonly spec: infer Spec
}
  ? Omit<Request, 'spec'> & { readonly spec: Omit<Spec, 'input'> & { readonly input?: Value } }
  : Request

/** The same request, with its input as it is stored. */
export function encodeInput<Request extends { readonly kind: string; readonly spec: object }>(
  request: WithValueInput<Request>,
): Request {
  const { kind, spec } = request as { readonly kind: string; readonly spec: { readonly input?: unknown } }
  if ((kind !== 'workflow' && kind !== 'tool') || spec?.input === undefined) return request as Request
  const encoded = encode(spec.input)
  if (encoded.type === 'unstorable')
    throw new RefusedError(unstorable(`The input of this ${kind}`, encoded.why))
  return { ...request, spec: { ...spec, input: encoded.json satisfies Json } } as Request
}
