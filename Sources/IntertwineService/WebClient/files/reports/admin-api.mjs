// Requests to the admin API with the operator's token, which the form `access` of the page asks for.

const find = (id) => document.getElementById(id)

// A frame of another origin may have no session storage. The token is then valid until the page closes.
const storage = {
  get token() {
    try { return sessionStorage.getItem("token") } catch { return this.own }
  },
  set token(value) {
    this.own = value
    try { sessionStorage.setItem("token", value) } catch { /* `own` has it. */ }
  },
}

const credentials = () => (storage.token ? { Authorization: `Bearer ${storage.token}` } : {})

/** Fetches with the operator's token, for what shows its failures itself. */
export const authorized = (url, options = {}) => fetch(url, { ...options, headers: { ...credentials(), ...options.headers } })

/** The token that the service has refused last. Other requests may be permitted with it, so that they do not hide the form. */
let refused = null

/**
 * Sends a request, and returns its response if the status is 2xx. A redirect and a web page are those of a proxy that requires a sign-in.
 *
 * @throws An error with the `status` and the `problem` of another response. The page shows the form of the token if another token may help.
 */
export async function send(path, options = {}) {
  const authorization = credentials()
  const response = await fetch(path, { cache: "no-store", redirect: "manual", ...options, headers: { ...authorization, ...options.headers } }).catch(() => {
    throw Object.assign(new Error("The service cannot be reached. Nothing was changed, unless the request arrived."), { status: 0, problem: {} })
  })
  const token = authorization.Authorization ?? ""
  if (response.status === 401) refused = token
  document.body.classList.toggle("is-locked", response.status === 401)
  if ([401, 403, 429].includes(response.status)) find("access").hidden = false
  else if (token !== refused) find("access").hidden = true
  const isOfProxy = response.type === "opaqueredirect" || /\bhtml\b/i.test(response.headers.get("content-type") ?? "")
  if (response.ok && !isOfProxy) return response
  if (isOfProxy) throw Object.assign(new Error("Reload the page to sign in."), { status: response.status, problem: {} })
  // A page in a frame leaves the focus to the page around it.
  if (response.status === 401 && window === window.top) find("token").focus()
  const problem = await response.json().catch(() => ({}))
  throw Object.assign(new Error(problem.detail ?? `The response has the status ${response.status}.`), { status: response.status, problem })
}

/** Returns the campaign with an id, from the pages of the list; undefined if there is none. */
export async function campaignNamed(id) {
  for (let href = "/admin/campaigns?limit=1000"; href;) {
    const { campaigns, page } = await (await send(href)).json()
    const campaign = campaigns.find((one) => one.campaign === id)
    if (campaign) return campaign
    href = page.next
  }
}

/** Hides what the operator's role does not permit, and returns the state of the system, or null. The service checks every request. */
export async function applyRole() {
  const response = await authorized("/admin/system", { cache: "no-store", redirect: "manual" }).catch(() => null)
  if (!response?.ok) return null
  const system = await response.json()
  document.body.dataset.role = system.role
  return system
}

/** Calls a function after the operator has entered the token. */
export function onToken(load) {
  find("access").addEventListener("submit", (event) => {
    event.preventDefault()
    storage.token = find("token").value
    find("token").value = ""
    applyRole()
    load()
  })
}
