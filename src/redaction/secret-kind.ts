/**
 * The kind of value that a name announces.
 *
 * | kind     | for example                     | the value is a secret                    |
 * | password | `DB_PASSWORD`, `passphrase`     | always, even if it is one word           |
 * | secret   | `client_secret`, `private_key`  | unless it is the name of something       |
 * | token    | `apiKey`, `X-Auth-Token`        | if it looks generated                    |
 * | possible | `STRIPE_KEY`, `sig`, `salt`     | if it is long and looks generated        |
 * | code     | `otp`, `pin`                    | if it is a number of four digits or more |
 * | phrase   | `mnemonic`, `seed_phrase`       | if it has several words                  |
 * | url      | `DATABASE_URL`                  | if it has a password in it               |
 */
export type SecretKind = 'password' | 'secret' | 'token' | 'possible' | 'code' | 'phrase' | 'url'

/**
 * How a value was written, from the most explicit to the least.
 *
 * | style    | for example                                          |
 * | variable | `DB_PASSWORD=value`: a variable of the environment   |
 * | header   | `X-Api-Key: value`                                   |
 * | quoted   | `"password": "value"`, `password = 'value'`          |
 * | setting  | `password=value`, `password: value` as all of a line |
 * | bare     | the same within other text, which may be a program   |
 * | sentence | `your new password: value`                           |
 */
export type ValueStyle = 'variable' | 'header' | 'quoted' | 'setting' | 'bare' | 'sentence'
