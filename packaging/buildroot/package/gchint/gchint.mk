################################################################################
#
# gchint
#
################################################################################

# The tree that this recipe is in.
GCHINT_SITE = $(realpath $(BR2_EXTERNAL_GCHINT_PATH)/../..)
GCHINT_SITE_METHOD = local
GCHINT_LICENSE = MIT (libraries), GPL-2.0+ (daemon), GPL-2.0 (module)
GCHINT_LICENSE_FILES = LICENSES/MIT LICENSES/GPL-2.0
GCHINT_INSTALL_STAGING = YES

GCHINT_DEVELOPED = libgchint collectors
GCHINT_COMPONENTS = $(GCHINT_DEVELOPED)

ifeq ($(BR2_PACKAGE_GCHINT_ADAPTERS),y)
GCHINT_DEPENDENCIES += \
	$(if $(BR2_PACKAGE_BDWGC),bdwgc) \
	$(if $(BR2_PACKAGE_LUA),host-pkgconf lua) \
	$(if $(BR2_PACKAGE_RUBY),host-pkgconf ruby)
GCHINT_COMPONENTS += adapters
endif

ifeq ($(BR2_PACKAGE_GCHINT_DAEMON),y)
GCHINT_DEPENDENCIES += \
	host-pkgconf libnl sqlite systemd \
	$(if $(BR2_PACKAGE_ELFUTILS),elfutils) \
	$(if $(BR2_PACKAGE_LIBIIO),libiio) \
	$(if $(BR2_PACKAGE_LIBMICROHTTPD),libmicrohttpd) \
	$(if $(BR2_PACKAGE_NCURSES_WCHAR),ncurses)
GCHINT_COMPONENTS += daemon packaging

define GCHINT_USERS
	gchintd -1 gchint-record -1 * - - - gchint recorder
	- -1 gchint -1 - - - - users that may hint
endef
endif

ifeq ($(BR2_PACKAGE_GCHINT_MODULE),y)
define GCHINT_LINUX_CONFIG_FIXUPS
	$(call KCONFIG_ENABLE_OPT,CONFIG_CPU_FREQ)
endef

$(eval $(kernel-module))
endif

# SUBDIRS, TARGET: in the environment, to which each Makefile adds its own flags.
define GCHINT_EACH
	for dir in $(1); do \
		$(TARGET_MAKE_ENV) $(TARGET_CONFIGURE_OPTS) JAVA_HOME= RPATH= \
			$(MAKE) -C $(@D)/$$dir BUILD=$(@D)/build/$$dir PREFIX=/usr $(2) || exit 1; \
	done
endef

define GCHINT_BUILD_CMDS
	$(call GCHINT_EACH,$(GCHINT_COMPONENTS),all)
endef

define GCHINT_INSTALL_STAGING_CMDS
	$(call GCHINT_EACH,$(GCHINT_DEVELOPED),DESTDIR=$(STAGING_DIR) install)
endef

define GCHINT_INSTALL_TARGET_CMDS
	$(call GCHINT_EACH,$(GCHINT_COMPONENTS),DESTDIR=$(TARGET_DIR) install)
	$(if $(BR2_PACKAGE_GCHINT_MODULE),$(call GCHINT_EACH,packaging,DESTDIR=$(TARGET_DIR) install-modules-load))
endef

$(eval $(generic-package))
