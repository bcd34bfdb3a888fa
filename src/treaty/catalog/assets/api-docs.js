// The API reference: Swagger UI on the OpenAPI document of this server, without its online validator.
const reference = document.getElementById("reference");
const chosenTheme = document.documentElement.dataset.theme;
const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.classList.toggle("dark-mode", chosenTheme ? chosenTheme === "dark" : prefersDark);
SwaggerUIBundle({
  url: reference.dataset.openapi,
  domNode: reference,
  deepLinking: true,
  docExpansion: "list",
  filter: true,
  validatorUrl: null,
});
