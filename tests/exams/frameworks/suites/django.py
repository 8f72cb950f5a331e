"""Django's tests, from its source distribution, with mysqlclient."""

from pathlib import Path

from frameworks.suite import PythonSuite

# Test applications without tables: they would only repeat what Django does without a database.
WITHOUT_TABLES = {
    "absolute_url_overrides", "admin_default_site", "admin_scripts", "app_loading", "asgi", "bash_completion", "builtin_server",
    "conditional_processing", "csrf_tests", "custom_migration_operations", "db_typecasts", "decorators", "deprecation", "dispatch",
    "field_deconstruction", "field_subclassing", "files", "handlers", "httpwrappers", "humanize_tests", "import_error_package",
    "invalid_models_tests", "logging_tests", "mail", "middleware", "middleware_exceptions", "model_enums", "no_models",
    "project_template", "requests_tests", "requirements", "responses", "settings_tests", "shortcuts", "signed_cookies_tests",
    "signing", "sphinx", "staticfiles_tests", "template_backends", "template_loader", "template_tests", "templates",
    "test_exceptions", "test_runner_apps", "urlpatterns", "urlpatterns_reverse", "validators", "version", "wsgi",
}
# GIS needs a library that is not fetched; test_runner starts parallel processes; selenium tests need a browser.
LEFT_OUT = {"gis_tests", "test_runner", "forms_tests", "utils_tests", "i18n", "cache", "view_tests", "admin_views", "test_utils"}
APPLICATIONS_OF_PORTION = 12

SETTINGS = """
SECRET_KEY = "exam"
TEST_RUNNER = "django_outcomes.RecordingRunner"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
DATABASES = {{
    alias: {{
        "ENGINE": "django.db.backends.mysql", "NAME": alias, "USER": "root", "HOST": "{socket}",
        "TEST": {{"NAME": "test_" + alias, "CHARSET": "utf8mb4", "COLLATION": "utf8mb4_general_ci"}},
        "OPTIONS": {{"charset": "utf8mb4"}},
    }} for alias in ("default", "other")
}}
"""


class Django(PythonSuite):
    name = "django"
    requirements = ["setuptools", "wheel", "django==5.2.19", "mysqlclient==2.3.2", "jinja2", "docutils", "PyYAML", "tblib", "tzdata", "bcrypt",
                    "argon2-cffi", "numpy", "Pillow"]
    source = "django==5.2.19"

    def portions(self):
        applications = sorted(path.parent.name for path in (self.tree / "tests").glob("*/__init__.py"))
        chosen = [name for name in applications if name not in WITHOUT_TABLES | LEFT_OUT]
        return [",".join(chosen[i:i + APPLICATIONS_OF_PORTION]) for i in range(0, len(chosen), APPLICATIONS_OF_PORTION)]

    def run(self, portion, server, directory: Path, seconds_max):
        settings = directory / "exam_settings.py"
        settings.write_text(SETTINGS.format(socket=server.socket), encoding="utf-8")
        command = [self.python, "runtests.py", "--settings=exam_settings", "--parallel=1", "--noinput", *portion.split(",")]
        return self.recorded(command, directory, seconds_max, cwd=self.tree / "tests")
