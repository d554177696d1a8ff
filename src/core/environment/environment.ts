/** The environment of a tool or a workflow, stored once under the hash of its content. Secrets are references, not values. */
export interface Environment {
  readonly variables: { readonly [name: string]: string | { readonly secret: string } }
  readonly policy: { readonly [name: string]: string | number | boolean }
  readonly options: { readonly [name: string]: string | number | boolean }
}

/** The option of an environment whose `PATH` is put before that of the base instead of replacing it. */
export const APPENDS_BASE_PATH = 'appendsBasePath'

export const EMPTY_ENVIRONMENT: Environment = { variables: {}, policy: {}, options: {} }
