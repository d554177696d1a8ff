/** The rule that names a model where none is named; a surface that chooses one uses the same. */
export { defaultModel, KEY_NAMES, type KeyName, MODEL_BY_KEY } from '../core/model/default-model.ts'
