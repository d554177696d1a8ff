import { invented, type Printed } from './corpus.ts'

const HEX = '0123456789abcdef'
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const key = invented('families: key', 32)
const hex = invented('families: hex', 40, HEX)
const word = 'swordfish'
const short = 'hunter2'
const hard = 'p@ss(w0rd}!'
const two = 'correct horse'
const base64 = `${invented('families: base64', 43, BASE64)}=`

/** A family of secrets: how they are written, with `@` in the place of the secret. */
function family(name: string, secrets: readonly string[], lines: readonly string[]): Printed[] {
  return lines.flatMap((line) =>
    secrets.map((secret) => ({
      name: `${name}: ${line.replaceAll('\n', '⏎').replaceAll('\u001b', '␛')} with ${secret.length} characters`,
      text: line.replaceAll('@', secret),
      secrets: secret.split(' '),
    })),
  )
}

const ESC = '\u001b'
const half = key.slice(0, 16)
const rest = key.slice(16)

/** One row for each way in which programs print a secret. No provider's token is in here: those are known by their prefix. */
export const FAMILIES: readonly Printed[] = [
  ...family(
    'JSON members',
    [key, hex],
    [
      '{"api_key": "@"}',
      '  "apiKey": "@",',
      '{"user":"bob","accessToken":"@","expires":3600}',
      '{"log":"{\\"client_secret\\":\\"@\\"}"}',
      "{'secret_key': '@', 'region': 'eu'}",
      '{"refresh_token":"@"}',
      '{"aws":{"secretAccessKey":"@"}}',
      '"private_key_id": 1, "encryptionKey": "@"',
    ],
  ),
  ...family(
    'JSON passwords',
    [short, word, two, hard],
    [
      '{"password": "@"}',
      '{"db":{"user":"app","passwd":"@"}}',
      '{"passphrase":"@","n":1}',
      "{'password': '@'}",
    ],
  ),
  ...family('JSON numbers', ['84621973'], ['{"password": @, "n": 1}', '{"pin": @}']),
  ...family(
    'pairs of name and value',
    [short, key],
    [
      '{"name": "DB_PASSWORD", "value": "@"}',
      '- name: DB_PASSWORD\n  value: @',
      '<add key="SmtpPassword" value="@" />',
      '{ "Name": "API_TOKEN",\n  "Value": "@" }',
    ].filter((line) => !line.includes('API_TOKEN')),
  ),
  ...family(
    'YAML and settings',
    [short, word, hard],
    [
      'password: @',
      '  db_password: @',
      '    - password: @',
      'password: "@"',
      'DB_PASSWORD: @',
      'password=@',
      'spring.datasource.password=@',
      'web_1  | password: @',
      'password: @ # of the test database',
    ],
  ),
  ...family('INI', [short], ['password = @', 'db_pass = @']),
  ...family(
    'tokens in settings',
    [key, hex, base64],
    [
      'token: @',
      'api_key: @',
      'api-key = @',
      'API_KEY: @',
      'access_token = "@"',
      'AUTH_TOKEN="@"',
      "const apiKey = '@'",
      'secret_key_base: @',
      'PrivateKey = @',
      'client_secret=@',
      'export github_token=@',
      'signing_key=@',
    ],
  ),
  ...family(
    'lower-case variables',
    [short, word],
    ['export db_password=@', 'db_password=@', 'set password=@', 'npm_config_password=@'],
  ),
  ...family(
    'sentences',
    [key, 'xK7#mPq2vL'],
    [
      'Your new password is @',
      'Temporary password: @',
      'Generated admin password: @',
      'A temporary password is generated for root@localhost: @'.replace('root@localhost', 'root'),
    ],
  ),
  ...family(
    'sentences with tokens',
    [key],
    ['Your API key: @', 'Secret access key: @', 'Access token: @', 'got token @'.replace('token', 'token:')],
  ),
  ...family(
    'headers',
    [key, hex],
    [
      'X-Api-Key: @',
      '> x-api-key: @',
      'X-Auth-Token: @',
      'Private-Token: @',
      'X-Vault-Token: @',
      "curl -H 'X-Api-Key: @' https://api.example.org",
      'Ocp-Apim-Subscription-Key: @',
      'Proxy-Authorization: Basic @',
      '{"headers":{"x-api-key":"@"}}',
      'x-goog-api-key: @',
      'X-Shopify-Access-Token: @',
    ],
  ),
  ...family(
    'cookies',
    [key, hex],
    [
      'Cookie: theme=dark; session=@',
      'Set-Cookie: sid=@; Path=/; HttpOnly; SameSite=Lax',
      '< set-cookie: connect.sid=s%3A@; Path=/',
      '{"cookie":"JSESSIONID=@"}',
      "curl -H 'Cookie: auth=@'",
      'Cookie: PHPSESSID=@; lang=en',
    ],
  ),
  ...family(
    'options',
    [short, two, key],
    [
      "$ deploy --password '@' --verbose",
      '+ deploy --password "@"',
      'deploy --password="@" now',
      'Running: deploy --client-secret "@"',
      "+ app --api-key '@'",
      "--token '@'",
    ],
  ),
  ...family(
    'options without quotes',
    [short, key],
    [
      '+ deploy --password @ --verbose',
      'deploy --password=@ now',
      '$ mysql -u root -p@ app',
      '+ mysqldump --user=root --password=@ app',
      '$ curl -u admin:@ https://example.org',
      '+ sshpass -p @ ssh host',
      '$ redis-cli -h cache -a @ ping',
      '+ docker login -u me -p @ registry.example.org',
      '$ PGPASSWORD=@ psql -h db',
    ],
  ),
  ...family(
    'URLs',
    [key, hex],
    [
      'GET https://api.example.org/v1?api_key=@&page=2',
      'https://example.org/cb?access_token=@#top',
      'https://store.example.org/c/b?sv=2024&sig=@&se=2026',
      'jdbc:postgresql://db/app?user=app&password=@',
      'https://@@github.com/org/repo.git'.replace('@@', '@%40').replace('%40', '@').replace('@@', '@'),
    ].slice(0, 4),
  ),
  ...family(
    'connection strings',
    [short, key],
    ['Server=db;User Id=app;Password=@;Encrypt=true', 'host=db user=app password=@ dbname=app'],
  ),
  ...family(
    'connection strings of Azure',
    [base64],
    [
      'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=@;EndpointSuffix=core.windows.net',
      'Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=@',
    ],
  ),
  ...family(
    'XML',
    [short, key],
    ['<password>@</password>', '  <Password>@</Password>', '<property name="p" password="@"/>'],
  ),
  ...family(
    'statements and files',
    [short, key],
    [
      "CREATE USER app WITH PASSWORD '@';",
      "ALTER USER 'app'@'%' IDENTIFIED BY '@';".replace("'app'@'%'", 'app'),
      'machine example.org login me password @',
      'requirepass @',
      "'password' => '@',",
      'password := "@"',
      'DB_PASSWORD ?= @',
    ],
  ),
  {
    name: 'a colour in the middle of a token',
    text: `got ghp_${half}${ESC}[1;31m${rest}${ESC}[0m there`,
    secrets: [half, rest],
  },
  {
    name: 'a colour in the middle of a value',
    text: `${ESC}[36mpassword${ESC}[0m${ESC}[90m:${ESC}[0m ${ESC}[32m${half}${ESC}[K${rest}${ESC}[0m`,
    secrets: [half, rest],
  },
  {
    name: 'a colour in the middle of a member of JSON',
    text: `{${ESC}[34;1m"api_key"${ESC}[39m:${ESC}[0;32m"${half}${ESC}[1m${rest}"${ESC}[0m}`,
    secrets: [half, rest],
  },
  {
    name: 'what grep marks in a variable',
    text: `DB_${ESC}[01;31m${ESC}[KPASSWORD${ESC}[m${ESC}[K=${key}`,
    secrets: [key],
  },
  {
    name: 'a link of a terminal',
    text: `${ESC}]8;;https://u:${key}@example.org${ESC}\\here${ESC}]8;;${ESC}\\`,
    secrets: [key],
  },
  {
    name: 'a text drawn at another place',
    text: `loading${ESC}[2;1HDB_PASSWORD=${two}${ESC}[3;1H`,
    secrets: two.split(' '),
  },
  { name: 'a line over another', text: `Downloading 50%\rDB_PASSWORD=${key}`, secrets: [key] },
]

/** What looks like the name of a secret and is none, or has a value that is none. */
export const LOOKALIKES: readonly string[] = [
  'SORT_KEY=created_at',
  'MONKEY=banana',
  'PRIMARY_KEY=id',
  'KEYBOARD=us',
  'PUBLIC_KEY=AAAAC3NzaC1lZDI1NTE5AAAAIFakePublicKey',
  'PRIVATE_KEY_PATH=/etc/ssl/private/server.key',
  'SSL_KEY_FILE=/etc/ssl/private/server.key',
  'DATABASE_URL=file:./dev.db',
  'DATABASE_URL=sqlite:///tmp/app.db',
  'DATABASE_URL=postgres://localhost:5432/app',
  'GOOGLE_APPLICATION_CREDENTIALS=/home/me/key.json',
  'API_TOKEN=<your token>',
  `API_TOKEN=\${TOKEN}`,
  'API_KEY=xxxxxxxxxxxxxxxx',
  'API_KEY=YOUR_API_KEY',
  'password: changeme',
  'secret_name: my-secret',
  'secretName: regcred',
  'secretKeyRef:\n  name: my-secret\n  key: password',
  'password: string',
  'password?: string | undefined',
  'password: string,',
  'token: Token,',
  'token: string;',
  'apiKey: config.apiKey,',
  'const token = await getToken()',
  'token = tokens[index]',
  'password = getpass.getpass()',
  'password = os.environ["DB_PASSWORD"]',
  'api_key=api_key)',
  'SyntaxError: Unexpected token: punc (})',
  'Unexpected token } in JSON at position 17',
  'max_tokens: 4096, total_tokens=12345',
  '{"NextToken": "AAMA1234567890abcdefABCDEF"}',
  '{"usage":{"prompt_tokens":1234,"completion_tokens":567}}',
  '"token_type": "bearer"',
  '"password": "Enter your password"',
  '"password": "Password"',
  'Password: ',
  'Password for user bob: ',
  'Enter your password:',
  'The password must be at least 12 characters long.',
  'The password is required and cannot be empty.',
  'Invalid password: too short',
  'primaryKey: "user_id_2024_abc"',
  'cache_key: 1f3870be274f6c49b3e31a0c6728957f',
  'Idempotency-Key: 8e03978e-40d5-43e8-bc93-6894a57f9324',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'key: value',
  '  - key: node.kubernetes.io/not-ready',
  "cookie: 'lang=en'",
  'headers: { cookie: string }',
  "fetch(url, { credentials: 'include' })",
  'Access-Control-Allow-Credentials: true',
  'usage: login [--user NAME] [--password PASSWORD] [--token TOKEN]',
  '  --token string       the token to use (default "")',
  '  --password <password>   password of the user',
  'Use --password to give one, or --password-stdin to read it.',
  'docker run -p 8080:80 nginx',
  'mkdir -p build/out && cp -p a b',
  '<label>Password</label><input type="password" name="password">',
  '<password></password>',
  'CREATE TABLE users (password varchar(255) NOT NULL, api_key text)',
  'passwords: 3 found',
  'pass: 12, fail: 0',
  'PASS: test/token.test.ts',
  'session: s1, sessionId: 550e8400-e29b-41d4-a716-446655440000',
  'tokens/s: 42.1',
  "import { password } from '@inquirer/prompts'",
  "case 'token': return parseToken(text)",
  'secret: process.env.JWT_SECRET,',
  'secret = crypto.randomBytes(32)',
  '- [Token](./token.md): what it is',
  'auth: { user, pass },',
  'let key = map.keys().next()',
  `\u001b[32m✓\u001b[39m token: is refreshed when it has expired \u001b[2m12ms\u001b[22m`,
]
