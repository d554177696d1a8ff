/** Why a model cannot be used, found before any call. */
export interface ModelRefusal {
  readonly type: 'refused'
  readonly code: ModelRefusalCode
  readonly message: string
  readonly remedy: string
}

export type ModelRefusalCode =
  /** The provider needs a key, and there is none. */
  | 'model_key_missing'
  /** No provider of that name, or no model. */
  | 'model_unknown'
  /** A budget of cost, and a model without a price. */
  | 'model_unpriced'
  /** The model does not take this input. */
  | 'model_unfit'
  /** The file of a scripted or recorded model cannot be used. */
  | 'script_invalid'

export function modelRefusal(code: ModelRefusalCode, message: string, remedy: string): ModelRefusal {
  return { type: 'refused', code, message, remedy }
}
